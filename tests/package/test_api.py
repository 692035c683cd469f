"""The public names: where they are, and that each has a docstring with an example that runs."""

import doctest
import importlib
import inspect
import io
import pathlib
import re

import pytest

import typedbytes as tb
import typedbytes.columns
import typedbytes.legacy
from support.public_classes import public_modules
from support.subprocess_runs import run_fresh

pytestmark = pytest.mark.quick

PACKAGE = pathlib.Path(tb.__file__).parent
ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_all_names_are_there_in_order():
    assert tb.__all__ == sorted(tb.__all__)
    assert len(set(tb.__all__)) == len(tb.__all__)
    for name in tb.__all__:
        assert getattr(tb, name).__name__ == name


def test_star_import_gives_all():
    names = {}
    exec("from typedbytes import *", names)
    assert set(names) - {"__builtins__"} == set(tb.__all__)


def test_names_that_come_later_come_when_asked_for():
    code = """
        import sys, typedbytes as tb
        assert "typedbytes.legacy" not in sys.modules
        print(tb.TypeCode(7).name, tb.Input.__name__, tb.TypeCode is tb.TypeCode, "typedbytes.legacy" in sys.modules)
    """
    assert run_fresh(code) == "STRING Input True True"


def test_dir_shows_the_names_that_come_later():
    code = """
        import sys, typedbytes as tb
        print(sorted({*tb.__all__, "MARKER", "files"} - {*dir(tb)}), "typedbytes.legacy" in sys.modules)
    """
    assert run_fresh(code) == "[] False"
    assert all(hasattr(tb, name) for name in dir(tb))


def test_modules_come_when_asked_for():
    code = """
        import sys, typedbytes as tb
        before = {name for name in sys.modules if name.startswith("typedbytes")}
        late = ("block", "columns", "hadoop", "local", "sequencefile", "streaming")
        print([name for name in late if f"typedbytes.{name}" in before])
        print(tb.columns.read.__name__, tb.sortkey is sys.modules["typedbytes.sortkey"], tb.streaming.run.__name__)
        sys.modules["typedbytes.block"] = None
        print(hasattr(tb, "block"))
    """
    assert run_fresh(code) == "[]\nread True run\nFalse"


def test_dir_shows_what_is_public_and_no_more():
    modules = list(public_modules().values())
    for module in modules:
        shown = {name for name in dir(module) if not name.startswith("_")}
        own_modules = {
            name for name in shown if inspect.ismodule(getattr(module, name)) and getattr(module, name) in modules
        }
        constants = typedbytes.legacy.__all__ if module is tb else ()
        assert shown - own_modules - {*constants} == {*module.__all__} - {*constants}, module


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'typedbytes' has no attribute 'load_all'"):
        _ = tb.load_all
    assert not hasattr(tb, "__wrapped__")


def test_the_version_is_that_of_the_project():
    assert f'\nversion = "{tb.__version__}"\n' in (ROOT / "pyproject.toml").read_text()


def test_every_package_is_listed():
    listed = re.search(r"^packages = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(), re.S | re.M).group(1)
    there = {".".join(path.parent.relative_to(PACKAGE.parent).parts) for path in PACKAGE.rglob("__init__.py")}
    assert set(re.findall(r'"(.*?)"', listed)) == there


def test_type_codes_are_those_of_the_core():
    source = (ROOT / "src" / "typedbytes" / "core" / "typecode.pxd").read_text()
    codes = {name: int(number) for name, number in re.findall(r"^    ([A-Z_]+) = (\d+)(?!\w)", source, re.M)}
    first, last = codes.pop("FIRST_APPLICATION"), codes.pop("LAST_APPLICATION")
    codes["NULL"] = codes.pop("NULL_CODE")
    assert codes == {code.name: code.value for code in tb.TypeCode}
    assert {code.value: code.name for code in tb.TypeCode} == {**tb._core.CODE_NAMES, 177: "ENDOFRECORD"}
    assert (first, last) == (50, 200)
    for code in (first, last):
        assert tb.loads(bytes([code]) + b"\0\0\0\4\0\0\0\0")[-1] == (b"" if code == 50 else b"\0\0\0\0")
    for code in (first - 1, last + 1):
        with pytest.raises(tb.FormatError):
            tb.loads(bytes([code]) + b"\0\0\0\0")


# -- docstrings -------------------------------------------------------------------------------------------


def documented():
    """Return every public object that needs a docstring, by name."""
    found = {}
    for name in tb.__all__:
        thing = getattr(tb, name)
        found[name] = thing
        if inspect.isclass(thing) and not issubclass(thing, Exception) and name != "TypeCode":
            for base in thing.__mro__:
                if base.__module__.startswith("typedbytes"):
                    for member, value in vars(base).items():
                        if not member.startswith("_") and (
                            callable(value) or isinstance(value, property) or inspect.isdatadescriptor(value)
                        ):
                            found.setdefault(f"{name}.{member}", value)
    return found


DOCUMENTED = documented()
SLOTS_OF_OLD = {"Input", "Output", "PairedInput", "PairedOutput", "Bytes"}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_public_object_says_what_it_does(name):
    text = DOCUMENTED[name].__doc__
    assert text
    first = text.strip().splitlines()[0]
    assert first.endswith((".", ":", ";", ",")) or len(first) > 60
    assert first[0].isupper()


EXAMPLES = [
    name for name in DOCUMENTED if name.split(".")[0] not in SLOTS_OF_OLD and not name.startswith(("Ext.", "Writable."))
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_public_object_has_an_example_that_runs(name):
    thing = DOCUMENTED[name]
    test = doctest.DocTestParser().get_doctest(thing.__doc__, dict(vars(tb), io=io), name, None, 0)
    assert test.examples
    runner = doctest.DocTestRunner(verbose=False)
    said = []
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)


@pytest.mark.parametrize("name", ["_core", "_sorting._native", "block._native"])
def test_examples_of_a_compiled_module_run(name):
    module = importlib.import_module(f"typedbytes.{name}")
    tests = [test for test in doctest.DocTestFinder(exclude_empty=True).find(module) if test.examples]
    runner = doctest.DocTestRunner(verbose=False)
    for test in tests:
        test.globs.update(vars(tb))
        runner.run(test)
    assert tests
    assert runner.failures == 0


#: Classes that name a package as their module; --doctest-modules passes over the methods of these.
SHOWN_BY_A_PACKAGE = [
    kind
    for module in (typedbytes.columns, typedbytes.legacy)
    for kind in dict.fromkeys(
        base for value in vars(module).values() if inspect.isclass(value) for base in value.__mro__
    )
    if kind.__module__ == module.__name__
]


@pytest.mark.parametrize("kind", SHOWN_BY_A_PACKAGE, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_examples_of_a_class_that_a_package_shows_run(kind):
    module = importlib.import_module(kind.__module__)
    found = doctest.DocTestFinder(exclude_empty=True).find(
        kind, kind.__name__, module=False, globs={**vars(tb), **vars(module), "io": io}
    )
    tests = [test for test in found if test.examples]
    runner = doctest.DocTestRunner(verbose=False)
    for test in tests:
        runner.run(test)
    assert tests
    assert runner.failures == 0
