"""What travels with a job: the modules of its script, and bundles of packages and wheels.

Here: what is found, and what an archive has. Not here: the command line that sends it.
"""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import zipfile

import pytest

from support.submit_calls import JOB, plan, run_command, wheel_of, written
from typedbytes import hadoop, sequencefile
from typedbytes.hadoop import _bundle
from typedbytes.jobs import modules
from typedbytes.jobs.source import Source

pytestmark = pytest.mark.usefixtures("no_plug_in")


def test_modules_beside_a_script_travel_with_it(tmp_path):
    script = written(
        tmp_path, job="import os, one\nfrom two import x\nfrom typedbytes import streaming\n",
        one="import three, numpy", two="", three="import one",
    )  # fmt: skip
    files, others = modules.local_modules(script)
    assert [os.path.basename(path) for path in files] == ["one.py", "three.py", "two.py"]
    assert others == {"os", "typedbytes", "numpy"}
    assert modules.third_party(others) == ["numpy"]
    assert modules.third_party(["sys", "json", "_io", "zlib", "xml", "no_such_thing"]) == ["no_such_thing"]


def test_what_a_script_may_do_without_is_not_asked_for(tmp_path):
    script = written(
        tmp_path, job="try:\n    import no_such_thing\nexcept ImportError:\n    pass\ndef f():\n    import nor_this\n"
    )
    assert modules.local_modules(script) == ([], set())


def test_a_package_beside_a_script_belongs_into_a_bundle(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("")
    script = written(tmp_path, job="import mine")
    with pytest.raises(hadoop.SubmitError, match="put it into the bundle with --module .*mine"):
        modules.local_modules(script)


def test_modules_that_are_in_the_bundle(small, tmp_path):
    """Tasks import what lies beside the script, not an older one of the bundle."""
    script = written(tmp_path, job="import mine, one\nrun()", one="a = 1")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("")
    (tmp_path / "mine.py").write_text("Python imports the package")
    modules = [str(tmp_path / "mine"), str(tmp_path / "one.py")]
    target = str(tmp_path / "b.zip")
    hadoop.bundle(target, modules=modules)
    job = plan(script, ["in"], "out", bundle=target, files=[modules[1]])
    assert hadoop.check(job).files == [modules[1]]
    for path, name in [
        (tmp_path / "one.py", "one.py"),
        (tmp_path / "mine" / "new.py", "mine/new.py"),
        (tmp_path / "mine" / "__init__.py", "mine/__init__.py"),
    ]:
        before = path.read_bytes() if path.exists() else None
        path.write_text("a = 2")
        with pytest.raises(
            hadoop.SubmitError,
            match=f"{name} in the bundle .* differs from .*: make it again with typedbytes bundle --module",
        ):
            hadoop.check(job)
        path.unlink() if before is None else path.write_bytes(before)
    hadoop.check(job)


@pytest.mark.parametrize("text", ["def", "x = \0", "\xff"])
def test_a_script_that_is_not_python(tmp_path, text):
    path = tmp_path / "job.py"
    path.write_text(text, "latin-1")
    with pytest.raises(hadoop.SubmitError, match="is not Python 3"):
        modules.local_modules(str(path))


def test_check_adds_modules_and_names_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = written(tmp_path, job="import one, numpy\none.run()", one="")
    said = []
    checked = hadoop.check(plan(script, ["in"], "out", input_format="text"), said.append)
    assert checked.files == [str(tmp_path / "one.py")]
    assert said == ["the nodes must have the module numpy, or a bundle that holds it (--require numpy)"]
    (tmp_path / "numpy.zip").write_bytes(b"")
    for wrong, message in [
        (plan("no.py", ["in"], "out"), "there is no script no.py"),
        (plan(script, ["in"], "out", files=["no.txt"]), "there is no file no.txt to ship"),
        (plan(script, ["in"], "out", bundle="no.zip"), "make it with typedbytes bundle no.zip"),
        (plan(script, ["in"], "out", bundle="numpy.zip"), "cannot be read .* make it with typedbytes bundle"),
        (plan(written(tmp_path, job="import no_such_thing"), ["in"], "out"), "imports no_such_thing, which is neither"),
    ]:
        with pytest.raises(hadoop.SubmitError, match=message):
            hadoop.check(wrong)
    assert hadoop.check(plan("s3://bucket/job.py", ["in"], "out")).files == []
    hadoop.check(
        plan(written(tmp_path, job="def mapper(key, value): pass"), ["in"], "out", input_format="text"), said.append
    )
    assert said[1:] == [f"{script} does not call run(...): its tasks may succeed and write nothing"]


ROLES = [
    ("from typedbytes import streaming\nstreaming.run(m)", False, False),
    ("from typedbytes import streaming\nstreaming.run(m, r, combiner=None)", False, True),
    ("from typedbytes import streaming as s\ns.run(m, r, c)", True, True),
    ("from typedbytes.streaming import run\nrun(m, reducer=r, combiner=r)", True, True),
    ("import typedbytes.streaming\ntypedbytes.streaming.run(m, r)", False, True),
    ("from typedbytes.streaming import run\nrun(m, r) if x else run(m, r, c)", True, True),
    ("from typedbytes.streaming import run\nrun(m, **jobs)", None, None),
    ("from typedbytes.streaming import run\nrun(*jobs)", None, None),
    ("from typedbytes.streaming import run\nrun(m, *jobs)", None, None),
    ("import subprocess\nsubprocess.run(m, r, c)", None, None),
]


@pytest.mark.parametrize("text, combines, reduces", ROLES, ids=[text.partition("\n")[2] for text, _, _ in ROLES])
def test_the_script_decides_about_its_combiner_and_its_reducer(tmp_path, text, combines, reduces):
    script = written(tmp_path, job=text)
    assert Source(script).roles == {"combine": combines, "reduce": reduces}
    checked = hadoop.check(plan(script, ["in"], "out"))
    assert (checked.combiner, checked.nreducers) == (bool(combines), 0 if reduces is False else 1)
    for options, has in (({"combiner": True}, combines), ({"nreducers": 2}, reduces)):
        expected = (
            pytest.raises(hadoop.SubmitError, match="job.py has no (combiner|reducer): give")
            if has is False
            else contextlib.nullcontext()
        )
        with expected:
            checked = hadoop.check(plan(script, ["in"], "out", **options))
            assert {name: getattr(checked, name) for name in options} == options


@pytest.mark.parametrize("call", ["run(None, r)", "run(reducer=r)", "run(mapper=None, reducer=r)"])
def test_a_script_without_a_mapper_is_refused_as_on_this_machine(tmp_path, call):
    script = written(tmp_path, job=f"from typedbytes.streaming import run\n{call}")
    with pytest.raises(hadoop.SubmitError, match="^step 1 of 1 has no mapper: typedbytes.streaming.lib"):
        hadoop.check(plan(script, ["in"], "out"))


def test_the_format_of_inputs_that_can_be_seen(tmp_path, monkeypatch):
    (tmp_path / "core-site.xml").write_text("<configuration/>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    folder = tmp_path / "in"
    folder.mkdir()
    with sequencefile.open(str(folder / "part-00000"), "w") as file:
        file.write("a", 1)
    (folder / "_SUCCESS").write_bytes(b"")
    (tmp_path / "a.txt").write_text("SEQUENCES are text\n")
    said = []
    found = [
        hadoop.check(plan(str(JOB), [str(path)], "out"), said.append).input_format
        for path in (folder, tmp_path / "a*", f"file://{folder}")
    ]
    assert (found, said) == (["sequencefile", "text", "sequencefile"], [])
    with pytest.raises(
        hadoop.SubmitError, match="part-00000 is a SequenceFile and .*a.txt is not: give the inputs of one kind"
    ):
        hadoop.check(plan(str(JOB), [str(folder), str(tmp_path / "a.txt")], "out"))
    assert hadoop.check(plan(str(JOB), ["hdfs:///in"], "out"), said.append).input_format == "text"
    assert said == [
        "the inputs cannot be looked at from here, and are read as lines of text; "
        "for SequenceFiles give --input-format sequencefile"
    ]
    assert (
        hadoop.check(plan(str(JOB), ["hdfs:///in"], "out", input_format="com.example.F"), said.append).input_format
        == "com.example.F"
    )


# -- bundles ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Return a bundle with a module, a package and two wheels of the same package for two versions."""
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "mine").mkdir()
    (folder / "mine" / "__init__.py").write_text("number = 5")
    (folder / "single.py").write_text("import other; name = other.name")
    wheels = []
    for tag in ("cp" + "%d%d" % sys.version_info[:2], "cp27"):
        wheels.append(folder / f"other-1.0-{tag}-{tag}-any.whl")
        with zipfile.ZipFile(wheels[-1], "w") as wheel:
            wheel.writestr("other/__init__.py", f"name = {tag!r}")
            wheel.writestr("other-1.0.data/platlib/other_too.py", "")
            wheel.writestr("other-1.0.dist-info/RECORD", "")
    target = folder / "bundle.zip"
    hadoop.bundle(str(target), modules=[str(folder / "mine"), str(folder / "single.py")], wheels=map(str, wheels))
    return target


@pytest.mark.unsanitized("its environment has nothing but what a node has, so no sanitizer")
def test_what_is_in_a_bundle(archive, tmp_path):
    with zipfile.ZipFile(archive) as opened:
        names = opened.namelist()
        opened.extractall(tmp_path)
    assert names == sorted(names)
    assert {
        "typedbytes/__init__.py",
        "typedbytes/streaming/_run.py",
        "mine/__init__.py",
        "single.py",
        "cp27/other/__init__.py",
    } <= set(names)
    assert not [name for name in names if name.endswith((".pyc", ".pyi")) or "dist-info" in name]
    version = "%d.%d" % sys.version_info[:2]
    assert version in _bundle.versions_in(str(archive))
    code = (
        "import typedbytes, mine, single; print(typedbytes.loads(typedbytes.dumps(mine.number)), single.name, "
        "typedbytes.__file__)"
    )
    environ = {"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"]}
    said = subprocess.run(
        [sys.executable, "-s", "-c", code], cwd="/", env=environ, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()
    assert said == ["5", "cp" + version.replace(".", ""), str(tmp_path / "typedbytes" / "__init__.py")]


def test_a_bundle_is_the_same_every_time(archive, tmp_path):
    parts = {
        "modules": [archive.parent / "mine", archive.parent / "single.py"],
        "wheels": sorted(archive.parent.glob("*.whl")),
    }
    given = {name: list(map(str, paths)) for name, paths in parts.items()}
    hadoop.bundle(str(tmp_path / "again.zip"), **given)
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()
    path = tmp_path / "stored.zip"
    hadoop.bundle(str(path), **given, compress=False)
    with zipfile.ZipFile(path) as stored, zipfile.ZipFile(archive) as compressed:
        assert {item.compress_type for item in stored.infolist()} == {zipfile.ZIP_STORED}
        assert stored.namelist() == compressed.namelist()
        assert all(stored.read(name) == compressed.read(name) for name in compressed.namelist())


def test_bundles_that_cannot_be(tmp_path):
    for target, options, message in [
        ("b.tar", {}, "name of a bundle must end with .zip"),
        ("no/such/b.zip", {}, "no/such/b.zip cannot be written: No such file"),
        ("b.zip", {"modules": ["no.py"]}, "no.py cannot be put into a bundle: No such file"),
        ("b.zip", {"wheels": [__file__]}, "is not a wheel"),
    ]:
        with pytest.raises(hadoop.SubmitError, match=message):
            hadoop.bundle(str(tmp_path / target), **options)
        assert os.listdir(tmp_path) == []


@pytest.fixture
def small(monkeypatch):
    """Have bundles made with next to nothing of our package, since most of it takes long to compress."""

    def add_package(archive):
        for name in ("__init__.py", "_module.cpython-311-x86_64-linux-gnu.so"):
            archive.add(f"typedbytes/{name}", b"of this machine", _bundle.OURS)

    monkeypatch.setattr(_bundle, "_add_package", add_package)


def tree(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return str(folder)


def names_in(target):
    with zipfile.ZipFile(target) as opened:
        return [name for name in opened.namelist() if not name.startswith("typedbytes/")]


def test_what_is_left_out_of_a_module_is_named(small, tmp_path, capfdbinary):
    quiet = [".git/config", ".hg/x", ".svn/x", "__pycache__/x.py", "x.pyc", ".mypy_cache/x"]
    named = [".env", ".hidden/x.py", "x.py~", "x.py.orig", ".x.py.swp", "venv/lib/x.py", "venv/pyvenv.cfg"]
    folder = tree(tmp_path / "mine", "__init__.py", "page.html", "fast.c", "types.pyi", "sub/x.py", *quiet, *named)
    code, output, messages = run_command(capfdbinary, "bundle", tmp_path / "b.zip", "--module", folder)
    assert (code, output) == (0, "")
    assert names_in(tmp_path / "b.zip") == [
        f"mine/{name}" for name in ("__init__.py", "fast.c", "page.html", "sub/x.py", "types.pyi")
    ]
    left_out = [".env", ".hidden", ".x.py.swp", "venv", "x.py.orig", "x.py~"]
    assert (
        messages == f"typedbytes bundle: left out of the bundle: {', '.join(f'{folder}/{name}' for name in left_out)}\n"
    )


def test_links_in_a_module(small, tmp_path):
    """What they lead to outside of it is not packed, and a named pipe is not waited for."""
    folder = tree(tmp_path / "mine", "__init__.py", "sub/x.py")
    tree(tmp_path / "outside", "secret.py")
    (tmp_path / "mine" / "again.py").symlink_to("sub/x.py")
    (tmp_path / "mine" / "other").symlink_to("sub")
    (tmp_path / "link").symlink_to("mine")
    hadoop.bundle(str(tmp_path / "b.zip"), modules=[str(tmp_path / "link")])
    assert names_in(tmp_path / "b.zip") == [
        f"link/{name}" for name in ("__init__.py", "again.py", "other/x.py", "sub/x.py")
    ]
    (tmp_path / "b.zip").unlink()
    link = tmp_path / "mine" / "sub" / "link"
    for goal, message in [
        ("../../outside/secret.py", "is a link to .*/outside/secret.py, outside of .*/mine: copy it"),
        ("../../outside", "outside of"),
        ("/dev/zero", "outside of"),
        ("..", "which it is in: remove the link"),
        ("no-such-file", "cannot be put into a bundle: No such file"),
    ]:
        link.symlink_to(goal)
        with pytest.raises(hadoop.SubmitError, match=f"{link} .*{message}|no-such-file {message}"):
            hadoop.bundle(str(tmp_path / "b.zip"), modules=[folder])
        link.unlink()
    os.mkfifo(tmp_path / "mine" / "pipe")
    with pytest.raises(hadoop.SubmitError, match="pipe cannot be put into a bundle: it is neither a file nor a folder"):
        hadoop.bundle(str(tmp_path / "b.zip"), modules=[folder])
    assert not (tmp_path / "b.zip").exists()


def test_modules_of_one_name(small, tmp_path):
    modules = [tree(tmp_path / "a" / "mine", "__init__.py"), tree(tmp_path / "b" / "mine", "x.py")]
    for wrong in (modules, [tree(tmp_path / "typedbytes", "x.py")]):
        with pytest.raises(hadoop.SubmitError, match="it already contains (mine|typedbytes)"):
            hadoop.bundle(str(tmp_path / "b.zip"), modules=wrong)


def test_a_module_and_a_package_of_one_name(small, tmp_path):
    (tmp_path / "mine.py").touch()
    (tmp_path / "typedbytes.py").touch()
    both = [str(tmp_path / "mine.py"), tree(tmp_path / "mine", "__init__.py")]
    for wrong, found in (
        (both, r"mine\.py"),
        (both[::-1], "mine/__init__"),
        ([str(tmp_path / "typedbytes.py")], "typed"),
    ):
        with pytest.raises(hadoop.SubmitError, match=f"it already contains {found}"):
            hadoop.bundle(str(tmp_path / "b.zip"), modules=wrong)


def entry_of(name, mode):
    item = zipfile.ZipInfo(name)
    item.external_attr = mode << 16
    return item


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "entries, message",
    [
        (["../../evil.py"], "the name '../../evil.py' has an empty part"),
        (["a/../../evil.py"], "has an empty part, . or .."),
        (["./evil.py"], "has an empty part"),
        (["a//evil.py"], "has an empty part"),
        (["/etc/evil.py"], "'/etc/evil.py' is absolute"),
        (["C:/evil.py"], "is absolute"),
        (["C:evil.py"], "is absolute"),
        (["..\\evil.py"], "has a backslash"),
        (["evil\n.py"], "has characters that are not text"),
        ([(entry_of("evil.py", 0o120777), b"/etc/passwd")], "'evil.py' is there twice, or is a link"),
        ([(entry_of("evil.py", 0o020644), b"")], "or is a link"),
        ([("a.py", b"1"), ("a.py", b"2")], "'a.py' is there twice"),
        ([("a.py", b"1"), ("A.py", b"2")], "both provide A.py, there as a.py"),
        (["a", "a/b.py"], "provides a/b.py, and .* the file a: leave one of them out"),
        (["typedbytes/__init__.py"], "and the typedbytes that runs here both provide typedbytes/__init__.py"),
        (["other-1.data/purelib/../evil.py"], "has an empty part"),
    ],
    ids=str,
)
def test_wheels_with_names_that_cannot_be(small, tmp_path, entries, message):
    wheel = wheel_of(tmp_path / "other-1.0-py3-none-any.whl", *entries)
    with pytest.raises(hadoop.SubmitError, match=message):
        hadoop.bundle(str(tmp_path / "b.zip"), wheels=[wheel])
    assert os.listdir(tmp_path) == ["other-1.0-py3-none-any.whl"]


def test_a_wheel_with_a_nul_in_a_file_name_is_refused(tmp_path):
    wheel = wheel_of(tmp_path / "other-1.0-py3-none-any.whl", "a.py_b.py")
    data = (tmp_path / "other-1.0-py3-none-any.whl").read_bytes()
    (tmp_path / "other-1.0-py3-none-any.whl").write_bytes(data.replace(b"a.py_b.py", b"a.py\0b.py"))
    with pytest.raises(hadoop.SubmitError, match="has characters that are not text"):
        hadoop.bundle(str(tmp_path / "b.zip"), wheels=[wheel])


def test_wheels_that_cannot_be_read(tmp_path):
    path = tmp_path / "other-1.0-py3-none-any.whl"
    data = b"abc" * 100
    wheel_of(path, ("a.py", data))
    whole = path.read_bytes()
    for old, new in [(data, b"x" * len(data)), (b"PK\x01\x02\x14\x03\x14\0\0\0", b"PK\x01\x02\x14\x03\x14\0\1\0")]:
        assert old in whole
        path.write_bytes(whole.replace(old, new))
        with pytest.raises(hadoop.SubmitError, match="other-1.0-py3-none-any.whl is not a wheel: "):
            hadoop.bundle(str(tmp_path / "b.zip"), wheels=[str(path)])


def test_each_wheel_is_where_its_pythons_find_it(small, tmp_path):
    names = [
        "a-1-py2.py3-none-any",
        "b-1-cp39-abi3-linux_x86_64",
        "c-1-cp39.cp310-none-any",
        "d-1-1build-cp311-cp311-linux_x86_64",
    ]
    hadoop.bundle(
        str(tmp_path / "b.zip"), wheels=[wheel_of(tmp_path / f"{name}.whl", f"{name[0]}.py") for name in names]
    )
    assert names_in(tmp_path / "b.zip") == ["a.py", "b.py", "cp310/c.py", "cp311/d.py", "cp39/c.py", "sitecustomize.py"]


def test_releases_that_differ_by_version_of_python_keep_apart(small, tmp_path, monkeypatch):
    found = [
        (wheel_of(tmp_path / f"a-{n}-py3-none-any.whl", ("a.py", b"%d" % n)), version)
        for n, version in ((1, "3.9"), (2, "3.11"))
    ]
    monkeypatch.setattr(_bundle, "_fetched", lambda *arguments: found)
    hadoop.bundle(str(tmp_path / "b.zip"), requirements=["a"], python_versions=["3.9", "3.11"])
    assert names_in(tmp_path / "b.zip") == ["cp311/a.py", "cp39/a.py", "sitecustomize.py"]


def test_compiled_modules_of_a_wheel_of_ours_replace_those_of_this_machine(small, tmp_path):
    compiled = "typedbytes/_module.cpython-311-x86_64-linux-gnu.so"
    wheel = wheel_of(tmp_path / "typedbytes-0.1.0-cp311-cp311-manylinux2014_x86_64.whl", (compiled, b"of old systems"))
    hadoop.bundle(str(tmp_path / "b.zip"), wheels=[wheel])
    with zipfile.ZipFile(tmp_path / "b.zip") as opened:
        assert opened.read(compiled) == b"of old systems"
    wheel = wheel_of(
        tmp_path / "typedbytes-0.0.9-cp311-cp311-manylinux2014_x86_64.whl",
        ("typedbytes/__init__.py", b"another release"),
    )
    with pytest.raises(hadoop.SubmitError, match="both provide typedbytes/__init__.py: leave one of them out"):
        hadoop.bundle(str(tmp_path / "b.zip"), wheels=[wheel])


def test_a_bundle_is_written_beside_and_renamed(small, tmp_path):
    target = tmp_path / "b.zip"
    (tmp_path / "other").write_text("other")
    for name in ("b.zip.part", ".b.zip.part"):
        (tmp_path / name).symlink_to("other")
    hadoop.bundle(str(target))
    before = sorted(os.listdir(tmp_path))
    assert before == [".b.zip.part", "b.zip", "b.zip.part", "other"]
    assert (tmp_path / "other").read_text() == "other"
    with limited_files(100), pytest.raises(hadoop.SubmitError, match="cannot be written: File too large"):
        hadoop.bundle(str(target))
    assert sorted(os.listdir(tmp_path)) == before and zipfile.is_zipfile(target)


def test_what_pip_says_is_on_the_line_of_the_message(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    code, _, message = run_command(capfdbinary, "bundle", tmp_path / "b.zip", "--require", "no_such_package")
    assert code == 69 and message.count("\n") == 1 and "\\n" not in message
    assert (
        "; pip says: Could not find a version that satisfies the requirement no_such_package (from versions: "
        "none); No matching" in message
    )


@contextlib.contextmanager
def limited_files(nbytes):
    """Let files grow to no more than `nbytes` bytes: what a full disk is, but for the number of the error."""
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_wheels_that_pip_does_not_find(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(
        hadoop.SubmitError, match="pip found no wheels for Python 3.9: build them with pip wheel .* --find-links"
    ):
        hadoop.bundle(str(tmp_path / "b.zip"), python_versions=["3.9"], find_links=[str(tmp_path)])
