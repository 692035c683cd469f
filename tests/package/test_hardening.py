"""The compiled modules have the protection of compiler and linker: it is read from the built files."""

import importlib
import platform
import subprocess
import sys

import pytest

from support.subprocess_runs import program

MODULES = ["_core", "_report._native", "_sorting._native", "block._native", "columns._native", "sequencefile._native"]

pytestmark = [pytest.mark.once, pytest.mark.skipif(sys.platform != "linux", reason="reads ELF")]


@pytest.fixture(params=MODULES)
def read(request):
    """Return a function that gives what readelf says of a module with an option."""
    path = importlib.import_module(f"typedbytes.{request.param}").__file__
    return lambda option: (
        subprocess.run([program("readelf"), "--wide", option, path], capture_output=True, text=True, check=True).stdout
    )


def test_addresses_are_read_only_after_loading(read):
    assert "BIND_NOW" in read("--dynamic") and "GNU_RELRO" in read("--program-headers")
    assert "R_X86_64_JUMP_SLO" not in read("--relocs"), "a call through a stub of the linker"


def test_the_stack_is_not_executable(read):
    (stack,) = (line.split() for line in read("--program-headers").splitlines() if "GNU_STACK" in line)
    assert stack[-2] == "RW"


def test_overwritten_stack_frames_are_noticed(read):
    assert "__stack_chk_fail" in read("--dyn-syms")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="a part of x86 processors")
def test_returns_are_compared_with_the_shadow_stack(read):
    assert "SHSTK" in read("--notes")


@pytest.mark.unsanitized("it is built without these checks")
@pytest.mark.parametrize("read", ["block._native"], indirect=True)
def test_calls_of_the_c_library_check_sizes_that_are_known(read):
    assert "_chk@GLIBC" in read("--dyn-syms").replace("__stack_chk_fail", "")
