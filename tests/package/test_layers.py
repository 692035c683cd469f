"""The sources are in layers, each file says what belongs in it, and an import brings no more than is needed."""

import ast
import pathlib
import re

import pytest

import typedbytes as tb
from support.subprocess_runs import run_fresh

pytestmark = pytest.mark.quick

PACKAGE = pathlib.Path(tb.__file__).parent
ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE_ROOT = ROOT / "src" / "typedbytes"
SOURCES = sorted(path for path in SOURCE_ROOT.rglob("*") if path.is_file())


#: The parts of the core, each using only those before it. They are compiled as one module.
CORE_PARTS = ["lifecycle", "buffer", "fileio", "codec", "stream", "structure"]
#: A name of the package, and the layer it is on; a module uses what is below it.
PYTHON_LAYERS = {
    "errors": 0, "_types": 0, "_base": 1, "records": 1, "_records": 2, "_typecodes": 2, "_core": 3, "_report": 4,
    "_sorting": 4, "block": 4, "sequencefile": 4, "sortkey": 5, "files": 5, "legacy": 5, "hive": 6, "rmr2": 6,
    "columns": 6, "__init__": 7, "streaming": 8, "jobs": 9, "local": 10, "hadoop": 10, "spark": 11, "fronts": 12,
    "cli": 13, "__main__": 14, "_pyinstaller": 14,
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


def test_the_modules_that_users_import_have_a_layer():
    assert {name for name in PYTHON_LAYERS if not name.startswith("_")} - {"cli"} == {*tb._MODULES}


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


#: The modules with an underscore that other packages use.
SHARED_MODULES = {
    ("cli", "block._native"), ("cli", "columns._sources"), ("cli", "columns._threads"),
    ("cli", "sequencefile._classes"), ("cli", "sequencefile._files"), ("cli", "sequencefile._writables"),
    ("columns", "sequencefile._typed_pairs"), ("local", "streaming._reporter"),
    ("local", "streaming._run"), ("local", "streaming._sidefiles"),
    ("spark", "columns._rcfile"), ("spark", "sequencefile._classes"),
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


def test_the_reference_shows_no_module_with_an_underscore():
    shown = {
        name: page.name
        for page in (ROOT / "docs" / "reference").glob("*.md")
        for name in re.findall(r"^\.\. (?:auto|py:)\w+:: (typedbytes[\w.]*)", page.read_text(), re.M)
    }
    assert shown.keys() >= {"typedbytes", "typedbytes.jobs", "typedbytes.columns"}
    assert [name for name in shown if "._" in name] == []


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
