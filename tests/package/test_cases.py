"""The table of cases is whole: no number is missing, every test it names is there, and nothing in it is unknown.

Here: the numbers there are, and where tests are found; docs/bugs-found.md may name no others. Not here: what a case or a bug says. Tests
are found in the sources, without importing them.
"""

import ast
import re
from pathlib import Path

import pytest

from cases import CASES

TESTS = Path(__file__).resolve().parents[1]
#: How many cases each letter has; the letters O and Q are not used.
COUNTS = dict(A=14, B=8, C=8, D=7, E=10, F=7, G=10, H=6, I=12, J=7, K=9, L=7, M=7, N=5, P=18, R=17)


def names_in(path):
    """Return the names of the test functions of a file."""
    return {node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)}


FOUND = {
    f"{path.relative_to(TESTS).as_posix()}::{name}"
    for path in TESTS.glob("*/test_*.py")
    for name in names_in(path)
    if name.startswith("test_")
}


def test_no_number_is_missing_or_unknown():
    assert list(CASES) == [f"{letter}{number + 1}" for letter, count in COUNTS.items() for number in range(count)]


@pytest.mark.parametrize("number", CASES)
def test_a_case_names_tests_that_are_there(number):
    case = CASES[number]
    assert case.requirement and not case.requirement.endswith(".")
    assert set(case.tests) <= FOUND
    assert len(set(case.tests)) == len(case.tests)
    assert case.tests or case.note


def test_every_test_about_hostile_input_has_a_number():
    named = {test for case in CASES.values() for test in case.tests}
    for file in ("core/test_allocation.py", "core/test_guard_page.py", "hadoop/test_chaos.py", "core/test_limits.py"):
        assert {test for test in FOUND if test.startswith(file)} <= named


def test_every_test_of_a_bug_that_was_found_is_there():
    page = (TESTS.parent / "docs" / "bugs-found.md").read_text("utf-8")
    named = re.findall(r"[\w/]+\.py::\w+", page)
    assert len(named) > 200
    assert set(named) <= FOUND


def test_no_list_comprehension_is_compiled():
    # List comprehensions of Cython 3.3 release an item twice when the list cannot grow.
    for path in sorted((TESTS.parent / "src").rglob("*.p[xy][idx]")):
        code = re.sub(r"""\"""(?s:.*?)\"""|#.*|"[^"\n]*"|'[^'\n]*'""", "", path.read_text("utf-8"))
        assert not re.search(r"\[(?:[^\[\]]|\[[^\]]*\])*?\sfor\s", code), path


def test_the_compiler_of_the_core_is_pinned():
    text = (TESTS.parent / "pyproject.toml").read_text("utf-8")
    found = re.findall(r'"cython(?!-lint)([^"]*)"', text)
    assert len(found) >= 2
    assert len(set(found)) == 1
    assert re.fullmatch(r">=(\d+)\.(\d+),<\1\.\d+", found[0])
