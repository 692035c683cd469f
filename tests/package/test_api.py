"""The public surface: names, stubs, docstrings and the running code say the same, and the layers hold."""

import ast
import copy
import doctest
import importlib
import inspect
import io
import pathlib
import pickle
import re

import pytest

import typedbytes as tb
import typedbytes.columns
import typedbytes.legacy
from support.public_classes import public_modules
from support.subprocess_runs import run_fresh
from typedbytes import hadoop, local, streaming

pytestmark = pytest.mark.quick

PACKAGE = pathlib.Path(tb.__file__).parent
ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE_ROOT = ROOT / "src" / "typedbytes"
SOURCES = sorted(path for path in SOURCE_ROOT.rglob("*") if path.is_file())


def module_of(path):
    """Return the module of a file of the package."""
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return importlib.import_module(re.sub(r"\.__init__$", "", name))


# -- names ------------------------------------------------------------------------------------------------


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
    assert {name for name in PYTHON_LAYERS if not name.startswith("_")} - {"cli"} == {*tb._MODULES}
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
    source = (SOURCE_ROOT / "core" / "typecode.pxd").read_text()
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


# -- stubs ------------------------------------------------------------------------------------------------

STUBS = sorted(PACKAGE.rglob("*.pyi"))
# what is made of these is in the stub alone
TYPING_ONLY = {"TypedDict", "ValueOptions", "Protocol"}


def stub_of(module):
    """Return the tree of a module's stub, or of the module, whose types are inline then."""
    path = pathlib.Path(module.__file__)
    stub = path.parent / (path.name.split(".")[0] + ".pyi")
    return ast.parse((stub if stub.exists() else path).read_text())


def stub_names(body):
    """Return the public names that the statements of a stub make, with what makes them; overloads count once."""
    names = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and any(ast.unparse(each) == "overload" for each in node.decorator_list):
            names[node.name] = node  # the last of them is the most general one
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            if not any(isinstance(base, ast.Name) and base.id in TYPING_ONLY for base in getattr(node, "bases", ())):
                names.setdefault(node.name, node)
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = node
        elif isinstance(node, ast.Assign):
            names.update({target.id: node for target in node.targets})
        elif isinstance(node, ast.ImportFrom):
            names.update({alias.asname: node for alias in node.names if alias.asname == alias.name})
    return {
        name: node
        for name, node in names.items()
        if not name.startswith("_") or name in ("__init__", "__new__", "__iter__", "__next__")
    }


def test_type_checkers_are_told_that_there_are_types():
    """`make types` finds whether every public name has one."""
    assert (PACKAGE / "py.typed").exists()


#: What users see of these are classes derived from theirs, and functions that call theirs.
SHOWN_BY_THEIR_PACKAGES = {"typedbytes.columns._native", "typedbytes.sequencefile._native"}


def is_public(module):
    """Return whether users import a module themselves."""
    return not module.__name__.rpartition(".")[2].startswith("_")


def is_shown(module, name):
    """Return whether users see a name.

    What else the stub of a compiled module has is for our own Python, which mypy checks.
    """
    return is_public(module) or (name in module.__all__ and module.__name__ not in SHOWN_BY_THEIR_PACKAGES)


@pytest.mark.parametrize("path", STUBS, ids=lambda path: "/".join(path.relative_to(PACKAGE).parts))
def test_a_stub_has_the_names_of_its_module(path):
    module = module_of(path)
    names = set(stub_names(ast.parse(path.read_text()).body))
    assert set(module.__all__) <= names
    for name in names:
        assert hasattr(module, name), name
    if is_public(module):
        assert {name for name in names if getattr(getattr(module, name), "__module__", "") == module.__name__} <= set(
            module.__all__
        )


CLASSES = [
    (module_of(path), name)
    for path in STUBS
    for name, node in stub_names(ast.parse(path.read_text()).body).items()
    if isinstance(node, ast.ClassDef) and is_shown(module_of(path), name)
]


def stub_class(kind):
    """Return the class statement in the stub of a class's module or of the package that shows it; None: not ours."""
    if not kind.__module__.startswith("typedbytes"):
        return None
    for name in (kind.__module__, kind.__module__.rpartition(".")[0]):
        tree = stub_of(importlib.import_module(name))
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name == kind.__name__:
                return node
    return None


def members(kind):
    """Return the names of a class and of its bases that the stubs give, with what makes them."""
    found = {}
    for base in kind.__mro__:
        node = stub_class(base)
        if node is not None:
            for name, member in stub_names(node.body).items():
                found.setdefault(name, member)
    return found


@pytest.mark.parametrize("module, name", CLASSES, ids=[f"{module.__name__}.{name}" for module, name in CLASSES])
def test_a_stub_has_the_members_of_its_class(module, name):
    kind = getattr(module, name)
    bases = [base.__name__ for base in kind.__mro__[1:]]
    given = members(kind)
    for member in given:
        assert hasattr(kind, member) or kind.__dictoffset__, (
            member
        )  # what __init__ sets, only where instances have a dict
    there = {
        member
        for base in kind.__mro__
        if base.__module__.startswith("typedbytes")
        for member in vars(base)
        if not member.startswith("_")
    }
    if issubclass(kind, int) and "Enum" in str(bases):
        assert [member.name for member in kind] == list(stub_names(stub_class(kind).body))
    else:
        assert there <= set(given)
    for base in stub_class(kind).bases:
        assert ast.unparse(base).split("[")[0].split(".")[-1] in [*bases, "NamedTuple", "Generic"], ast.unparse(base)


def options_of(name):
    """Return the option names of a TypedDict."""
    tree = ast.parse((PACKAGE / "_base" / "options.py").read_text())
    (node,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name.lstrip("_"))
    inherited = [option for base in node.bases if base.id != "TypedDict" for option in options_of(base.id)]
    return inherited + [item.target.id for item in node.body if isinstance(item, ast.AnnAssign)]


def stub_parameters(node):
    """Return (name, kind, has a default) for each parameter of a function in a stub; options are spelled out."""
    given = node.args
    positional = given.posonlyargs + given.args
    ndefault = len(positional) - len(given.defaults)
    found = [(item.arg, "positional", index >= ndefault) for index, item in enumerate(positional)]
    if given.vararg:
        found.append((given.vararg.arg, "rest", False))
    found += [(item.arg, "keyword", default is not None) for item, default in zip(given.kwonlyargs, given.kw_defaults)]
    if given.kwarg:
        options = re.fullmatch(r"Unpack\[(?:_core\.)?(\w+)\]", ast.unparse(given.kwarg.annotation)).group(1)
        found += [(option, "keyword", True) for option in options_of(options)]
    return found


def stub_defaults(node):
    """Return the default of each parameter of a function in a stub that gives one."""
    defaults = dict(zip([item.arg for item in node.args.kwonlyargs], node.args.kw_defaults))
    defaults.update(zip([item.arg for item in node.args.args][::-1], node.args.defaults[::-1]))
    return {
        parameter: default
        for parameter, default in defaults.items()
        if default is not None and ast.unparse(default) != "..."
    }


def real_parameters(function):
    """Return the same for a function, None where it cannot be asked or passes options on."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return None
    if any(item.kind is item.VAR_KEYWORD for item in parameters) or type(function).__name__ == "wrapper_descriptor":
        return None
    kinds = {"VAR_POSITIONAL": "rest", "KEYWORD_ONLY": "keyword"}
    return [(item.name, kinds.get(item.kind.name, "positional"), item.default is not item.empty) for item in parameters]


def functions():
    """Return each function and method of the stubs with the real one, by name."""
    found = {}
    for path in STUBS:
        module = module_of(path)
        for name, node in stub_names(ast.parse(path.read_text()).body).items():
            if not is_shown(module, name):
                continue
            if isinstance(node, ast.FunctionDef):
                found[f"{module.__name__}.{name}"] = (node, getattr(module, name))
            elif isinstance(node, ast.ClassDef):
                for member, inner in members(
                    getattr(module, name)
                ).items():  # those of a base whose class is not shown, too
                    if isinstance(inner, ast.FunctionDef) and not inner.decorator_list and member != "__init__":
                        found[f"{module.__name__}.{name}.{member}"] = (inner, getattr(getattr(module, name), member))
    return found


FUNCTIONS = functions()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_stub_has_the_parameters_of_its_function(name):
    node, function = FUNCTIONS[name]
    real = real_parameters(function)
    if real is not None:
        assert sorted(stub_parameters(node)) == sorted(real)
        positional = [item for item in stub_parameters(node) if item[1] == "positional"]
        assert positional == [item for item in real if item[1] == "positional"]
        for parameter, default in stub_defaults(node).items():
            assert ast.literal_eval(default) == inspect.signature(function).parameters[parameter].default


def test_every_function_can_be_asked_for_its_parameters():
    asked = {name for name, (_, function) in FUNCTIONS.items() if real_parameters(function) is not None}
    special = {name for name in FUNCTIONS if name.endswith(("__iter__", "__next__", "__new__"))}
    assert set(FUNCTIONS) - asked - special == set()


CONSTRUCTORS = {
    f"{module.__name__}.{name}": (stub_names(stub_class(getattr(module, name)).body)["__init__"], getattr(module, name))
    for module, name in CLASSES
    if "__init__" in stub_names(stub_class(getattr(module, name)).body)
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_a_class_shows_the_parameters_of_its_stub(name):
    node, kind = CONSTRUCTORS[name]
    shown = [("self", "positional", False), *real_parameters(kind)]
    assert sorted(shown) == sorted(stub_parameters(node))
    assert [item for item in shown if item[1] == "positional"] == [
        item for item in stub_parameters(node) if item[1] == "positional"
    ]
    parameters = inspect.signature(kind).parameters
    for parameter, default in stub_defaults(node).items():
        assert ast.literal_eval(default) == parameters[parameter].default
    options = {"EncodeOptions": tb.dumps, "ValueOptions": tb.loads, "DecodeOptions": tb.loads}
    for option_set in re.findall(r"\w+Options", ast.unparse(node.args.kwarg.annotation) if node.args.kwarg else ""):
        defaults = inspect.signature(options[option_set.lstrip("_")]).parameters
        for option in options_of(option_set):
            assert parameters[option].default == defaults[option].default


def test_a_subclass_shows_its_own_parameters():
    class Mine(tb.Reader):
        def __init__(self, path, *, more=1):
            super().__init__(path)

    class Plain(tb.Reader):
        pass

    assert list(inspect.signature(Mine).parameters) == ["path", "more"]
    assert inspect.signature(Plain) == inspect.signature(tb.Reader)


@pytest.mark.parametrize("name", ["Encoder", "Decoder", "Reader", "PairReader", "Writer", "PairWriter"])
def test_a_class_takes_what_it_shows(name):
    kind = getattr(tb, name)
    parameters = inspect.signature(kind).parameters.values()
    options = {item.name: item.default for item in parameters if item.kind is item.KEYWORD_ONLY}
    kind(*([] if name.endswith("coder") else [io.BytesIO()]), **options)


@pytest.mark.parametrize("name", ["dump", "dump_all", "load", "iter_load"])
def test_a_function_passes_on_each_option(name, monkeypatch):
    """Each has a value of its own: two that are swapped are found."""

    class Passed(Exception):
        pass

    def stream(file, **options):
        raise Passed(options)

    monkeypatch.setattr(tb.files, "Reader", stream)
    monkeypatch.setattr(tb.files, "Writer", stream)
    function = getattr(tb, name)
    parameters = inspect.signature(function).parameters.values()
    options = {item.name: object() for item in parameters if item.kind is item.KEYWORD_ONLY}
    with pytest.raises(Passed) as passed:
        function(*[io.BytesIO()] * (len(parameters) - len(options)), **options)
    assert passed.value.args[0] == {**options, **({"read_ahead": False} if name == "load" else {})}


def test_a_function_has_the_defaults_of_its_class():
    for function, kind in (
        (tb.dump, tb.Encoder),
        (tb.dump_all, tb.Encoder),
        (tb.load, tb.Decoder),
        (tb.iter_load, tb.Reader),
    ):
        shown = inspect.signature(function).parameters
        for option, parameter in inspect.signature(kind).parameters.items():
            if parameter.kind is parameter.KEYWORD_ONLY and option not in ("key_type", "value_type"):
                assert shown[option].default == parameter.default


ENCODING = {
    "int_width": 64,
    "pickle": "raw",
    "default": repr,
    "sort_keys": True,
    "unicode_errors": "ignore",
    "dialect": "hive",
    "max_depth": 9,
}
DECODING = {
    "pickle": "raw", "exact": True, "map_pairs": True, "ext_hook": print, "unicode_errors": "ignore", "dialect": "hive",
    "max_depth": 9, "max_bytes": 99,
}  # fmt: skip
TAKES_OPTIONS = {
    "dumps": (ENCODING, lambda **options: tb.dumps(1, **options)),
    "Encoder": (ENCODING, tb.Encoder),
    "dump": (ENCODING, lambda **options: tb.dump(1, io.BytesIO(), **options)),
    "dump_all": (ENCODING, lambda **options: tb.dump_all([1], io.BytesIO(), **options)),
    "Writer": (ENCODING, lambda **options: tb.Writer(io.BytesIO(), **options)),
    "PairWriter": (ENCODING, lambda **options: tb.PairWriter(io.BytesIO(), **options)),
    "loads": (DECODING, lambda **options: tb.loads(b"\2\1", **options)),
    "Decoder": (DECODING, tb.Decoder),
    "load": (DECODING, lambda **options: tb.load(io.BytesIO(b"\2\1"), **options)),
    "iter_load": (DECODING, lambda **options: tb.iter_load(b"\2\1", **options)),
    "Reader": (DECODING, lambda **options: tb.Reader(b"\2\1", **options)),
    "PairReader": (DECODING, lambda **options: tb.PairReader(b"\2\1", **options)),
}


@pytest.mark.parametrize("name", TAKES_OPTIONS)
def test_options_are_those_of_the_stubs_and_no_others(name):
    options, use = TAKES_OPTIONS[name]
    assert list(options) == options_of("EncodeOptions" if options is ENCODING else "DecodeOptions")
    for option, value in options.items():
        use(**{option: value})
    use(**options)
    other = DECODING if options is ENCODING else ENCODING
    for wrong in {
        "no_such_option": 1,
        **{option: value for option, value in other.items() if option not in options},
    }.items():
        with pytest.raises(TypeError, match=wrong[0]):
            use(**dict([wrong]))


TYPE_OPTIONS = {"type": object, "key_type": object, "value_type": object, "strict": False, "omit_none": True}
TAKES_TYPES = {
    **dict.fromkeys(("dumps", "dump", "dump_all", "Writer"), {"type", "omit_none"}),
    **dict.fromkeys(("loads", "load", "iter_load", "Reader"), {"type", "strict"}),
    "Encoder": {"type", "key_type", "value_type", "omit_none"},
    "Decoder": {"type", "key_type", "value_type", "strict"},
    "PairWriter": {"key_type", "value_type", "omit_none"},
    "PairReader": {"key_type", "value_type", "strict"},
}


@pytest.mark.parametrize("name", TAKES_OPTIONS)
def test_options_for_types_are_taken_where_they_mean_something(name):
    use = TAKES_OPTIONS[name][1]
    for option, value in TYPE_OPTIONS.items():
        if option in TAKES_TYPES[name]:
            use(**{option: value})
        else:
            with pytest.raises(TypeError, match=option):
                use(**{option: value})


@pytest.mark.parametrize(
    "use",
    [
        lambda **options: tb.skip(b"\2\1", **options),
        lambda **options: tb.count(b"\2\1", **options),
        lambda **options: tb.index(b"\2\1", **options),
    ],
)
def test_scans_take_their_two_options(use):
    use(dialect="hive", max_depth=3)
    for wrong in ({"no_such_option": 1}, {"sort_keys": True}, {"exact": True}):
        with pytest.raises(TypeError):
            use(**wrong)


def evaluated_annotations(node, in_function=False):
    """Yield the annotations that run when a module is imported."""
    for child in ast.iter_child_nodes(node):
        is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        if is_function and not in_function:
            yield from filter(
                None, [child.returns, *(each.annotation for each in ast.walk(child.args) if isinstance(each, ast.arg))]
            )
        elif isinstance(child, ast.AnnAssign) and not in_function:
            yield child.annotation
        yield from evaluated_annotations(child, in_function or is_function)


def test_annotations_are_those_of_the_oldest_python():
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        is_evaluated = not any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
        if is_evaluated and any(
            isinstance(node, ast.BinOp) for each in evaluated_annotations(tree) for node in ast.walk(each)
        ):
            found.append(path.relative_to(PACKAGE).as_posix())  # a | of types is an error on Python 3.9
    assert found == []


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


# -- layers -----------------------------------------------------------------------------------------------

#: The parts of the core, each using only those before it. They are compiled as one module.
CORE_PARTS = ["lifecycle", "buffer", "fileio", "codec", "stream", "structure"]
#: A name of the package, and the layer it is on; a module uses what is below it.
PYTHON_LAYERS = {
    "errors": 0, "_types": 0, "_base": 1, "records": 1, "_records": 2, "_typecodes": 2, "_core": 3, "_report": 4,
    "_sorting": 4, "block": 4, "sequencefile": 4, "sortkey": 5, "files": 5, "legacy": 5, "columns": 6, "__init__": 7,
    "streaming": 8, "jobs": 9, "local": 10, "hadoop": 10, "spark": 11, "cli": 12, "__main__": 13, "_pyinstaller": 13,
}  # fmt: skip


def name_of(path):
    """Return a source's path below the root of the sources."""
    return path.relative_to(SOURCE_ROOT).as_posix()


def is_part(name):
    """Return whether a source is a part of the core, not one of the headers that everything may use."""
    return re.match(rf"core/({'|'.join(CORE_PARTS)})[./]", name) is not None


def part_of(name):
    """Return the number of the core's part that a source belongs to."""
    return CORE_PARTS.index(re.split("[./]", name)[1])


def code_of(path):
    """Return a source without its comments and docstrings."""
    text = re.sub(r'(?s)""".*?"""|/\*.*?\*/', "", path.read_text())
    return "\n".join(re.sub(r"(^|\s)(#(?!include).*|//.*)", "", line) for line in text.splitlines())


def definitions_in(path):
    """Return the names of the functions and classes that a source of the core defines."""
    found = re.findall(r"^cdef\b[^\n=]*?(\w+)\(|^cdef class (\w+)", code_of(path), re.M)
    return {function or kind for function, kind in found}


def test_there_are_sources():
    assert {name_of(path) for path in SOURCES} >= {
        "_core.pyx",
        "core/byteorder.h",
        "core/codec/containers.pxi",
        "columns/_native.pyx",
    }
    assert all(path.suffix in (".pyx", ".pxd", ".pxi", ".h") for path in SOURCES)


def test_the_parts_of_the_core_are_included_in_their_order():
    assert re.findall(r'include "core/(\w+)\.pxi"', (SOURCE_ROOT / "_core.pyx").read_text()) == CORE_PARTS


def test_the_map_has_every_module_and_its_layer():
    table = re.search(r"(?s)\n\| layer .*?\n\n", (ROOT / "CONTRIBUTING.md").read_text())[0]
    layers = {
        name: int(layer)
        for layer, cell in re.findall(r"^\| (\d+) \| ([^|]+)\|", table, re.M)
        for name in re.findall(r"`typedbytes/(\w+)", cell)
    }
    modules = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in PACKAGE.rglob("*.py")}
    compiled = {
        path.relative_to(SOURCE_ROOT).as_posix().removesuffix("/_native.pyx").removesuffix(".pyx")
        for path in SOURCES
        if path.suffix == ".pyx"
    }
    assert modules | compiled == set(layers)
    assert layers == PYTHON_LAYERS


def test_the_map_has_every_helper_of_the_command_once():
    table = re.search(r"(?s)\n\| helpers .*?\n\n", (ROOT / "CONTRIBUTING.md").read_text())[0]
    rows = re.findall(r"^\| (?:`(\w+)`: )?(`\w+`[^|]*)\|", table, re.M)
    helpers = [(folder, name) for folder, cell in rows for name in re.findall(r"`(\w+)`", cell)]
    there = [path.relative_to(PACKAGE / "cli").with_suffix("").parts for path in (PACKAGE / "cli").rglob("*.py")]
    assert sorted(helpers) == sorted(
        ("", *parts)[-2:] for parts in there if parts[0] != "commands" and parts[-1] != "__init__"
    )


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_source_uses_only_the_layers_below(path):
    name, code = name_of(path), code_of(path)
    folder = name.rpartition("/")[0]
    used = re.findall(r"(?:from|cimport) typedbytes\.([\w.]+)(?: cimport|$)", code, re.M)
    if folder.startswith("core"):
        assert all(re.match(r"core\.\w+$", other) and not is_part(other.replace(".", "/") + ".") for other in used), (
            used
        )
        assert is_part(name) or used == []
    else:
        own = tuple(f"{package}." for package in ("core", folder))
        assert all(other == "_core" or other.startswith(own) and "_native" not in other for other in used), used
    for other in re.findall(r'#include "([\w/]+)\.h"|extern from "([\w/]+)\.h"', code):
        assert "".join(other).partition("/")[0] in ("Python", "core", folder, "datetime", "pythread"), other
    if re.search(r'extern from "\w+/', code):  # our own headers, each declared once, by what everything may use
        assert path.suffix == ".pxd" and not is_part(name)
    allowed = {"errors", "_base", "_types", "_records"}
    if folder and not folder.startswith("core"):
        allowed |= {"_core"}
    for other in re.findall(r"from typedbytes\.(\w+)(?:\.\w+)* import|^import typedbytes\.?(\w*)", code, re.M):
        assert set(other) - {""} <= allowed, other


@pytest.mark.parametrize("path", [path for path in SOURCES if is_part(name_of(path))], ids=name_of)
def test_a_part_of_the_core_uses_only_those_before_it(path):
    later = [
        other
        for other in SOURCES
        if other.suffix == ".pxi" and is_part(name_of(other)) and part_of(name_of(other)) > part_of(name_of(path))
    ]
    names = set().union(*map(definitions_in, later)) - definitions_in(path)
    words = set(re.findall(r"(?<![.\w])\w+(?=\()", code_of(path)))
    assert words & {name for name in names if not name.startswith("__")} == set()


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_source_opens_prints_and_asks_for_nothing(path):
    assert (
        re.findall(
            r"\bopen\(|\bfopen\(|environ|\bprint\(|\bprintf\(|getenv|sys\.std(?:in|out|err)|\binput\(", code_of(path)
        )
        == []
    )


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_source_says_what_belongs_in_it(path):
    text = path.read_text().lstrip("/*# \n")
    assert re.match(r"\w", text) and len(text.split("\n", 1)[0]) > 15
    assert "TODO" not in text
    assert "FIXME" not in text


def test_no_file_is_longer_than_its_limit():
    """A file that outgrows it does more than one job: split it along them."""
    files = [(path, 600) for path in SOURCES] + [(path, 400) for path in PACKAGE.rglob("*.py")]
    assert [path.name for path, limit in files if len(path.read_text().splitlines()) > limit] == []


def test_no_file_states_its_layer():
    """The map in CONTRIBUTING.md does: a number in a file would contradict it after the next change."""
    files = [*SOURCES, *PACKAGE.rglob("*.py")]
    assert [path.name for path in files if re.search(r"\b[Ll]ayer \d", path.read_text())] == []


@pytest.mark.parametrize("name", ["avx2", "avx512"])
def test_kernels_ask_for_every_extension_that_they_use(name):
    text = (SOURCE_ROOT / "core" / "utf8" / f"{name}.h").read_text()
    # No processor has the second without the first.
    implied = {"avx512f": "avx512bw", "bmi": "bmi2", "popcnt": "avx512bw"} if name == "avx512" else {}
    used = re.search(r'#define TB_(?:WIDE|AVX2) __attribute__\(\(target\("([^"]+)"', text)[1].split(",")
    asked = re.findall(r'__builtin_cpu_supports\("(\w+)"\)', text)
    assert len(used) > 3 and {implied.get(extension, extension) for extension in used} == set(asked)


def python_imports(path):
    """Return the modules of the package that a file imports, wherever it does."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            if node.module == "typedbytes":
                for alias in node.names:
                    yield f"typedbytes.{alias.name}" if alias.name in PYTHON_LAYERS else "typedbytes"
            else:
                yield node.module


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: "/".join(path.relative_to(PACKAGE).parts)
)
def test_a_python_file_uses_only_the_layers_below(path):
    here = path.relative_to(PACKAGE).with_suffix("").parts[0]
    for name in python_imports(path):
        parts = name.split(".")
        if parts[0] == "typedbytes":
            there = parts[1] if len(parts) > 1 else "__init__"
            assert there == here or PYTHON_LAYERS[there] < PYTHON_LAYERS[here], name


#: The private modules of a package that others use.
SHARED_MODULES = {
    ("cli", "block._native"), ("cli", "columns._tables"), ("cli", "columns._type_strings"),
    ("columns", "sequencefile._typed_pairs"), ("spark", "columns._tables"),
}  # fmt: skip


def test_a_package_is_used_by_what_it_shows():
    found = set()
    for path in PACKAGE.rglob("*.py"):
        here = path.relative_to(PACKAGE).with_suffix("").parts[0]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("typedbytes."):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                private = [re.match(r"typedbytes\.((\w+)\.(?:\w+\.)*?_\w+)", name) for name in names]
                found |= {(here, match[1]) for match in private if match and match[2] != here}
    assert found == SHARED_MODULES


@pytest.mark.parametrize("name", ["errors", "_types"])
def test_the_lowest_files_import_nothing_of_ours(name):
    assert [other for other in python_imports(PACKAGE / f"{name}.py") if other.startswith("typedbytes")] == []


HEAVY = [
    "argparse", "ast", "asyncio", "contextlib", "ctypes", "dataclasses", "datetime", "decimal", "doctest", "enum",
    "functools", "importlib.util", "inspect", "json", "logging", "numpy", "pathlib", "pickle", "random", "re", "shutil",
    "socket", "struct", "subprocess", "tempfile", "threading", "traceback", "typing", "uuid", "typedbytes._base.npy",
    "typedbytes._records", "typedbytes._typecodes", "typedbytes.cli", "typedbytes.legacy", "typedbytes.records",
    "typedbytes.streaming",
]  # fmt: skip


def test_import_brings_nothing_heavy():
    code = f"""
        import sys
        before = set(sys.modules)
        import typedbytes as tb
        tb.loads(tb.dumps([1, 2.5, "a", b"b", (True, None), {{"k": 2**100}}]))
        print(sorted((set(sys.modules) - before) & set({HEAVY!r})))
    """
    assert run_fresh(code, flags=("-S",)) == "[]"


def test_the_older_names_bring_nothing_heavy():
    code = f"""
        import io, sys
        before = set(sys.modules)
        from typedbytes import PairedInput, PairedOutput
        PairedOutput(io.BytesIO()).writes(PairedInput(io.BytesIO(bytes.fromhex("02010200"))))
        heavy = {{*{HEAVY!r}, "importlib", "operator", "types", "warnings"}} - {{"typedbytes.legacy"}}
        print(sorted((set(sys.modules) - before) & heavy))
    """
    assert run_fresh(code, flags=("-S",)) == "[]"


# -- errors -----------------------------------------------------------------------------------------------

TREE = {
    "EncodeError": (tb.TypedBytesError,),
    "EncodeTypeError": (tb.EncodeError, TypeError),
    "EncodeValueError": (tb.EncodeError, ValueError),
    "DecodeError": (tb.TypedBytesError, ValueError),
    "TruncatedError": (tb.DecodeError, EOFError),
    "LimitError": (tb.DecodeError,),
    "DecodeTypeError": (tb.DecodeError, TypeError),
    "FormatError": (tb.DecodeError,),
    "BlockError": (tb.FormatError,),
}


@pytest.mark.parametrize("name", TREE)
def test_the_tree_of_errors(name):
    assert getattr(tb, name).__bases__ == TREE[name]


@pytest.mark.parametrize("error", [streaming.TooManyBadRecords, local.JobError, hadoop.SubmitError])
def test_the_errors_of_jobs_are_of_this_library(error):
    assert error.__bases__ == (tb.TypedBytesError,)


ERRORS = [
    tb.EncodeTypeError("cannot"),
    tb.EncodeValueError("cannot", '[3]["key"]'),
    tb.DecodeError("odd"),
    tb.TruncatedError("ends", 5, 7, "[0]", 3),
    tb.LimitError("deep", 2**40, None, "x" * 500, 0),
    tb.FormatError("bad", 0, 255),
    tb.DecodeTypeError("expected int", 5, 7, "[1].ms", 2),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_are_copied_whole(error):
    again = [pickle.loads(pickle.dumps(error, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for found in [*again, copy.copy(error), copy.deepcopy(error)]:
        assert type(found) is type(error)
        assert (str(found), repr(found), found.args, vars(found)) == (str(error), repr(error), error.args, vars(error))


MESSAGES = {
    "nothing": (lambda: tb.loads(b""), "input ends where a value should start at offset 0"),
    "inside": (lambda: tb.loads(b"\x03\0\0"), "input ends inside INT: at least 2 more bytes needed at offset 3"),
    "in_a_list": (
        lambda: tb.loads(b"\x09\x02\1"),
        "input ends inside LIST: at least 1 more bytes needed at offset 3, path [1]",
    ),
    "trailing": (lambda: tb.loads(b"\x02\1\x02"), "1 byte after the value: iter_load reads several at offset 2"),
    "unknown": (lambda: tb.loads(b"\x09\x0d"), "unknown type code 13 at offset 1, path [0]"),
    "marker": (lambda: tb.loads(b"\xff"), "MARKER outside a LIST at offset 0"),
    "length": (lambda: tb.loads(b"\7\xff\xff\xff\xff"), "negative length or count -1 of STRING at offset 0"),
    "ext_length": (
        lambda: tb.loads(b"\x90\xff\xff\xff\xfe"),
        "negative length or count -2 of type code 144 at offset 0",
    ),
    "count": (lambda: tb.loads(b"\x0a\x80\0\0\0"), "negative length or count -2147483648 of MAP at offset 0"),
    "text": (lambda: tb.loads(b"\7\0\0\0\2a\xff"), "STRING is not UTF-8: invalid start byte at its byte 1 at offset 0"),
    "deep": (
        lambda: tb.loads(b"\x09\x09", max_depth=1),
        "containers nest deeper than max_depth=1 at offset 1, path [0]",
    ),
    "record": (lambda: list(tb.Reader(b"\x02\1\xff")), "MARKER outside a LIST at offset 2, record 1"),
    "key": (
        lambda: tb.loads(b"\x0a\0\0\0\1\x09\xff"),
        "LIST cannot be a MAP key; map_pairs=True gives the pairs at offset 5, path .key(0)",
    ),
    "long": (lambda: tb.loads(b"\x02\1", max_bytes=1), "a record is longer than max_bytes=1 at offset 0"),
    "type": (
        lambda: tb.dumps([{"k": object}]),
        'cannot encode an object of type type: pass default=, or pickle="trust" for your own data, at [0]["k"]',
    ),
    "none": (
        lambda: tb.dumps(None, pickle="raw"),
        "cannot encode an object of type NoneType: pass default= or another pickle=",
    ),
    "own_type": (lambda: tb.dumps(pathlib.PurePosixPath()), "cannot encode an object of type pathlib"),
    "width": (lambda: tb.dumps(2**31, int_width=32), "int does not fit an INT of 32 bits"),
    "wide": (lambda: tb.dumps(2**63, pickle="raw"), "int does not fit 64 bits"),
    "surrogate": (
        lambda: tb.dumps("\udc80"),
        'str holds a lone surrogate, which UTF-8 cannot encode: pass unicode_errors="surrogateescape", for example',
    ),
    "float": (lambda: tb.dumps(tb.Float(1e300)), "number is too large for a FLOAT"),
    "nesting": (
        lambda: tb.dumps([[]], max_depth=1),
        "containers nest deeper than max_depth=1, or one holds itself, at [0]",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name):
    use, message = MESSAGES[name]
    with pytest.raises(tb.TypedBytesError) as caught:
        use()
    assert str(caught.value) == message or name == "own_type" and str(caught.value).startswith(message)


# -- value types ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [tb.Byte(5), tb.Long(5), tb.Float(1.5), tb.Ext(60, b"a"), tb.Writable("a.B", b"c")], ids=repr
)
def test_value_types_are_copied_shown_and_compared(value):
    for found in (
        pickle.loads(pickle.dumps(value)),
        copy.copy(value),
        copy.deepcopy(value),
        eval(repr(value), vars(tb)),
    ):
        assert (type(found), found) == (type(value), value)
        assert hash(found) == hash(value)
    with pytest.raises(AttributeError):
        value.anything = 1
    assert tb.loads(tb.dumps(value), exact=True) == value


def test_opaque_values_equal_only_their_own_kind():
    ext, writable = tb.Ext(60, b"a"), tb.Writable("a", b"b")
    assert ext != (60, b"a")
    assert (60, b"a") != ext  # noqa: SIM300, the other operand is asked first
    assert ext == tb.Ext(60, bytearray(b"a"))
    assert tuple(ext) == (60, b"a")
    assert writable not in {("a", b"b"), ext}
    (code, data), (name, rest) = ext, writable
    assert (code, data, name, rest) == (ext.code, ext.data, writable.class_name, writable.data)
    assert len(repr(tb.Ext(60, bytes(10**6)))) < 200
    assert len(repr(tb.Writable("n" * 10**6, bytes(10**6)))) < 400


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: tb.Ext(49), ValueError), (lambda: tb.Ext(201), ValueError), (lambda: tb.Ext(0), ValueError),
        (lambda: tb.Ext(255), ValueError), (lambda: tb.Ext("60"), TypeError), (lambda: tb.Ext(60, "text"), TypeError),
        (lambda: tb.Ext(60.5), (TypeError, ValueError)), (lambda: tb.Ext(60, 5), TypeError),
        (lambda: tb.Writable(b"name"), TypeError), (lambda: tb.Writable("name", "text"), TypeError),
        (lambda: tb.Writable("name", 5), TypeError), (lambda: tb.Byte(128), ValueError),
        (lambda: tb.Byte(-129), ValueError), (lambda: tb.Long(2**63), ValueError), (lambda: tb.Byte("x"), ValueError),
        (lambda: tb.Float("x"), ValueError),
    ],
)  # fmt: skip
def test_value_types_refuse_what_they_cannot_hold(make, error):
    with pytest.raises(error):
        make()


# -- what cannot be copied --------------------------------------------------------------------------------


def stateful():
    """Return one of each object that has a state of its own."""
    reader = tb.PairReader(io.BytesIO(tb.dumps("k") + tb.dumps("v")))
    groups = reader.groups()
    _, values = next(groups)
    decoder = tb.Decoder()
    decoder.feed(b"\2")
    return [
        tb.Encoder(), decoder, tb.Reader(b""), reader, groups, values, tb.Writer(io.BytesIO()),
        tb.PairWriter(io.BytesIO()),
    ]  # fmt: skip


@pytest.mark.parametrize("index", range(8))
@pytest.mark.parametrize(
    "use",
    [pickle.dumps, copy.copy, copy.deepcopy, lambda obj: obj.__reduce_ex__(2)],
    ids=["pickle", "copy", "deepcopy", "reduce"],
)
def test_what_has_a_state_is_not_copied(use, index):
    with pytest.raises(TypeError):
        use(stateful()[index])


@pytest.mark.parametrize("index", range(8))
def test_what_has_a_state_is_shown_shortly(index):
    assert len(repr(stateful()[index])) < 120


def test_subclasses_may_add_and_not_break():
    class Counting(tb.Reader):
        def __init__(self, source):
            super().__init__(source)
            self.seen = 0

        def __next__(self):
            self.seen += 1
            return super().__next__()

    reader = Counting(b"\2\1\2\0")
    assert (list(reader), reader.seen) == ([True, False], 3)

    class Lazy(tb.Writer):
        def __init__(self):
            pass

    writer = Lazy()
    with pytest.raises(ValueError, match="closed"):
        writer.write(1)
    writer.close()
