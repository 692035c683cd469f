"""The types that the reference shows: what stubs say of compiled code, and functions of themselves.

A private alias becomes what it means, and a name of the standard library or NumPy its full name, whose page `address`
knows. So the build needs no inventory of another site, hence no network.
"""

import ast
import builtins
import importlib
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1] / "typedbytes"

SHORT = {  # of types that are long, or have no name at run time
    "ReadableBuffer": "collections.abc.Buffer",
    "WriteableBuffer": "collections.abc.Buffer",
    "SupportsIndex": "int",
    "NDArray": "numpy.ndarray",
    "_MapJob": "collections.abc.Callable | type",
    "_ReduceJob": "collections.abc.Callable | type",
}
RESULTS = {  # that are Any in the sources, since the libraries are optional
    "to_arrow": "pyarrow.Table",
    "to_pandas": "pandas.DataFrame",
    "to_polars": "polars.DataFrame",
    "scan_polars": "polars.LazyFrame",
}
STANDARD = "collections.abc", "typing", "os", "array", "socket", "io", "contextlib"
OPTIONS = "typedbytes._base.options"
OTHERS = {
    "numpy": "https://numpy.org/doc/stable/reference/generated/{}.html",
    "pandas": "https://pandas.pydata.org/docs/reference/api/{}.html",
    "polars": "https://docs.pola.rs/api/python/stable/reference/{1}/index.html",
    "pyarrow": "https://arrow.apache.org/docs/python/generated/{}.html",
}


def address(name):
    """Return the URL of a type of the standard library or of a library in OTHERS, or None for another name."""
    package, module = name.split(".")[0], name.rpartition(".")[0]
    found = getattr(builtins, name, None)
    if package in OTHERS:
        return OTHERS[package].format(name, name.rpartition(".")[2].lower())
    if module in STANDARD:
        page = module
    elif name == "None":
        page = "constants"
    elif isinstance(found, type) and issubclass(found, BaseException):
        page = "exceptions"
    elif found is not None:
        page = "functions" if name in ("bool", "complex", "float", "int", "object", "type") else "stdtypes"
    else:
        return None
    return f"https://docs.python.org/3/library/{page}.html#{name}"


class Types:
    """The annotations of all functions by their names."""

    def __init__(self, public_names):
        self.nodes, self.aliases = {}, {}  # by qualified name, then by module
        self.public = {}
        for name in public_names:
            self.public.setdefault(name.rpartition(".")[2], []).append(name)
        for path in (*ROOT.rglob("*.py"), *ROOT.rglob("*.pyi")):  # a stub takes the place of its module
            module = ".".join(path.with_suffix("").relative_to(ROOT.parent).parts).removesuffix(".__init__")
            self._visit(module, "", ast.parse(path.read_text()).body)

    def _visit(self, module, prefix, body):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                # of overloads the last one is for all arguments
                self.nodes.setdefault(prefix + node.name, {})[module] = node
            if isinstance(node, ast.ClassDef):
                self._visit(module, f"{prefix}{node.name}.", node.body)
            elif isinstance(node, ast.If):
                self._visit(module, prefix, node.body)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and not prefix:
                self.aliases.setdefault(node.targets[0].id, {})[module] = node.value

    def _find(self, name, module):
        """Return the definition of a qualified name that has annotations, in a module or in one above or below it."""
        found = [
            node
            for each, node in self.nodes.get(name, {}).items()
            if f"{each}.".startswith(f"{module}.") or f"{module}.".startswith(f"{each}.")
        ]
        return max(found, key=lambda node: ast.unparse(getattr(node, "args", node)).count(":"), default=None)

    def of(self, obj):
        """Return the types of the parameters of a function or class, and that of its result, as text."""
        if isinstance(obj, type):
            names = [(f"{each.__qualname__}.{name}", each) for each in obj.__mro__ for name in ("__init__", "__new__")]
        else:
            owner = getattr(obj, "__objclass__", getattr(obj, "__self__", obj))  # a compiled method has no module
            names = [(getattr(obj, "__qualname__", ""), owner if isinstance(owner, type) else obj)]
        for name, owner in names:
            node = self._find(name, owner.__module__)
            if node is not None:
                return self._of_node(node, owner.__module__)
        types = {}  # of the fields of a dataclass
        for each in reversed(obj.__mro__ if isinstance(obj, type) else ()):
            node = self._find(each.__qualname__, each.__module__)
            types.update(self._of_node(node, each.__module__)[0] if node else {})
        return types, None

    def _of_node(self, node, module):
        if isinstance(node, ast.ClassDef):
            fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            return {each.target.id: self.text(each.annotation, module) for each in fields}, None
        types, args = {}, node.args
        for each in filter(None, (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg)):
            if each.annotation is not None and each.arg != "self":
                options = re.fullmatch(r"Unpack\[_?(\w+)\]", ast.unparse(each.annotation))
                types.update(self._options(options[1]) if options else {each.arg: self.text(each.annotation, module)})
        result = node.returns if node.name not in ("__init__", "__new__") else None
        return types, RESULTS.get(node.name) or result and self.text(result, module)

    def _options(self, name):
        """Return the types of the keys of a TypedDict."""
        node, types = self._find(name, OPTIONS), {}
        for base in node.bases:
            types.update(self._options(base.id) if base.id != "TypedDict" else {})
        return types | self._of_node(node, OPTIONS)[0]

    def text(self, node, module):
        """Return an annotation with full names."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = ast.parse(node.value, mode="eval").body
        return ast.unparse(_Named(self, module).visit(ast.parse(ast.unparse(node), mode="eval").body))

    def full(self, name, module):
        """Return the expression that a name stands for."""
        if name in SHORT:
            return SHORT[name]
        if name in self.aliases and not name.isupper():
            found = self.aliases[name].get(module) or next(iter(self.aliases[name].values()))
            if isinstance(found, ast.Call):  # a variable of types, or a class that is made by a call
                return "typing.Any" if ast.unparse(found.func) == "TypeVar" else name
            return f"({self.text(found, module)})"
        if name in self.public:
            return max(self.public[name], key=lambda each: each.rpartition(".")[0] in module)
        for each in () if hasattr(builtins, name) else STANDARD:
            if hasattr(importlib.import_module(each), name):
                return f"{each}.{name}"
        return name


class _Named(ast.NodeTransformer):
    """Gives names of types in full, Optional and Union as unions."""

    def __init__(self, types, module):
        self.types, self.module = types, module

    def visit_Name(self, node):
        text = self.types.full(node.id, self.module)
        return node if text == node.id else ast.parse(text, mode="eval").body

    def visit_Attribute(self, node):
        name = ast.unparse(node).rpartition(".")[2]
        return self.visit_Name(ast.Name(name))

    def visit_Subscript(self, node):
        kind = ast.unparse(node.value).rpartition(".")[2]
        if kind == "Literal":
            node.value = ast.parse("typing.Literal", mode="eval").body
            return node
        node = self.generic_visit(node)
        if kind in ("Optional", "Union"):
            items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            items = [*items, *([ast.Constant(None)] if kind == "Optional" else [])]
            return ast.parse(" | ".join(map(ast.unparse, items)), mode="eval").body
        if isinstance(node.value, ast.Attribute) and node.value.attr == "ndarray":
            return node.value
        return node
