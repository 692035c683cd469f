"""Stubs, or the types in the code, say what the running code says: names, members, parameters, options."""

import ast
import importlib
import inspect
import io
import pathlib
import re

import pytest

import typedbytes as tb

pytestmark = pytest.mark.quick

PACKAGE = pathlib.Path(tb.__file__).parent


def module_of(path):
    """Return the module of a file of the package."""
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return importlib.import_module(re.sub(r"\.__init__$", "", name))


def test_modules_that_are_imported_when_they_are_used():
    (modules,) = (
        [alias.name for alias in node.names]
        for node in stub_of(tb).body
        if isinstance(node, ast.ImportFrom) and node.module == "typedbytes"
    )
    assert modules == list(tb._MODULES)


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
    options = {
        "EncodeOptions": tb.dumps, "ValueOptions": tb.loads, "DecodeOptions": tb.loads, "ReaderOptions": tb.iter_load,
        "WriterOptions": tb.Writer,
    }  # fmt: skip
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
