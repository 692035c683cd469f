"""What one version of the compiler gets wrong: the sources avoid it, and the compiler is that version."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_no_list_comprehension_is_compiled():
    """List comprehensions of Cython 3.3 release an item twice when the list cannot grow."""
    for path in sorted((ROOT / "src").rglob("*.p[xy][idx]")):
        code = re.sub(r"""\"""(?s:.*?)\"""|#.*|"[^"\n]*"|'[^'\n]*'""", "", path.read_text("utf-8"))
        assert not re.search(r"\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\]]*\])*\])*?\sfor\s", code), path


def test_the_compiler_of_the_core_is_pinned():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    found = re.findall(r'"cython(?!-lint)([^"]*)"', text)
    assert len(found) >= 2
    assert len(set(found)) == 1
    assert re.fullmatch(r">=(\d+)\.(\d+),<\1\.\d+", found[0])
