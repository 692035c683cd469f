"""The checks of a wheel: .ci/check-wheel passes one that is in order, and says what is wrong with any other."""

import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

from support.subprocess_runs import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "typedbytes-1.0-cp311-cp311-manylinux_2_34_x86_64.whl"

pytestmark = pytest.mark.once


@pytest.fixture(scope="module", params=["this system", "busybox"])
def check(request, tmp_path_factory):
    """Return a function for exit code and output of a wheel's checks with these files, under two sets of tools."""
    environ = dict(os.environ)
    if request.param == "busybox":  # what the images of musllinux have
        applets = tmp_path_factory.mktemp("applets")
        subprocess.run([program("busybox"), "--install", "-s", applets], check=True)
        (applets / "python3").symlink_to(sys.executable)
        environ["PATH"] = str(applets)

    def check(folder, contents, name=NAME, tag="manylinux*"):
        with zipfile.ZipFile(folder / name, "w") as archive:
            for path, data in contents.items():
                archive.writestr(path, data)
        done = subprocess.run(
            ["sh", ROOT / ".ci/check-wheel", folder / name, tag], capture_output=True, text=True, env=environ
        )
        return done.returncode, done.stdout + done.stderr

    return check


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Return a function that compiles a module, with debug information or none."""
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "module.c").write_text("int f(void) { return 1; }\n")

    def compile_module(option):
        subprocess.run(["gcc", option, "-shared", "-fPIC", "-o", folder / "module.so", folder / "module.c"], check=True)
        return (folder / "module.so").read_bytes()

    return compile_module


@pytest.fixture(scope="module")
def modules(compiled):
    module = compiled("-g0")
    return {f"typedbytes/module{number}.so": module for number in range(6)}


@pytest.mark.parametrize("name", [NAME, NAME.replace("cp311-cp311", "cp314-cp314t")])
def test_a_wheel_in_order(check, tmp_path, modules, name):
    code, output = check(tmp_path, {**modules, "typedbytes/__init__.py": "", "typedbytes/__init__.pyi": ""}, name)
    assert code == 0 and output == f"{name}: {(tmp_path / name).stat().st_size} bytes, in order\n"


@pytest.mark.parametrize(
    "name",
    [
        NAME.replace("manylinux_2_34", "linux"),
        NAME.replace("manylinux", "musllinux"),
        NAME.replace("cp311-cp311", "py3-none"),
    ],
)
def test_a_wrong_tag(check, tmp_path, modules, name):
    code, output = check(tmp_path, modules, name)
    assert code == 1 and "expected a" in output and "tag" in output


def test_a_large_wheel(check, tmp_path, modules):
    most = int(re.search(r"^most_bytes=(\d+)", (ROOT / ".ci/check-wheel").read_text(), re.M)[1])
    code, output = check(tmp_path, {**modules, "typedbytes/noise": os.urandom(most)})
    assert code == 1 and f"expected at most {most} bytes" in output


def test_a_missing_module(check, tmp_path, modules):
    code, output = check(tmp_path, dict(list(modules.items())[:5]))
    assert code == 1 and "expected 6 compiled modules, found 5" in output


def test_debug_information(check, tmp_path, modules, compiled):
    code, output = check(tmp_path, {**modules, "typedbytes/module3.so": compiled("-g")})
    assert code == 1 and "found a .debug section in typedbytes/module3.so" in output


@pytest.mark.parametrize("name", ["_core.pyx", "codec.pxi", "codec.pxd", "_core.c"])
def test_sources(check, tmp_path, modules, name):
    code, output = check(tmp_path, {**modules, f"typedbytes/{name}": ""})
    assert code == 1 and "expected no sources" in output
