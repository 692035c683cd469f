"""The gates themselves: the faults fit the sources, leaks and lines never reached are seen, and none leaks."""

import json
import shutil
import subprocess
import sys

import pytest

import typedbytes
from gates import build_copies, faults, figures, leaks, line_coverage, reliability
from support.subprocess_runs import run_fresh

pytestmark = [
    pytest.mark.once,
    pytest.mark.unsanitized("blocks are not counted where malloc gives them"),
    pytest.mark.untraced,
]


def test_every_fault_can_be_put_in():
    for fault in faults.FAULTS:
        text = faults.source_of(fault).read_text("utf-8")
        assert text.count(fault.old) == 1, f"{fault.name}: found {text.count(fault.old)} times in {fault.file}"
        assert fault.old != fault.new


def test_there_are_faults_enough_and_each_has_a_name():
    assert len({fault.name for fault in faults.FAULTS}) == len(faults.FAULTS) >= 24


KEPT = []
leaky = {
    "a list that grows": lambda wire: KEPT.append([wire]),
    "an object in a cycle that cannot be collected": lambda wire: KEPT.append([KEPT, len(KEPT) * 1000]),
}


@pytest.mark.parametrize("name", leaky)
def test_a_leak_is_seen(name):
    wires = [b"\x02\1"] * 50
    nblocks, _ = leaks.grown(leaky[name], wires, [{}], 0)
    assert nblocks >= len(wires)
    KEPT.clear()
    nblocks, _ = leaks.grown(lambda wire: typedbytes.loads(wire), wires, [{}], 0)
    assert nblocks <= 0


def test_a_reference_too_few_is_seen():
    # in a process of its own, which ends before it would be needed
    code = """
        import ctypes, os, sys
        sys.path[:0] = sys.argv[1:]
        from gates import leaks
        lose = ctypes.pythonapi.Py_DecRef
        lose.argtypes = [ctypes.py_object]
        shared = leaks.typedbytes.loads(leaks.typedbytes.dumps(1000))  # of the core's table
        kept = [shared] * 100_000  # so that it lives on
        leaks.DECODING.clear()
        leaks.ENCODING.clear()
        leaks.DECODING["loses"] = lambda wire, **options: lose(shared)
        leaks.wires = lambda: [b"wire"] * 200
        code = leaks.main([])
        sys.stdout.flush()
        os._exit(0 if code == 1 else 1)
    """
    assert "too few of [1000]" in run_fresh(code, leaks.TESTS)


def test_nothing_leaks():
    code = "import sys; sys.path[:0] = sys.argv[1:]; from gates import leaks; sys.exit(leaks.main([]))"
    assert "0 groups of them leak" in run_fresh(code, leaks.TESTS)


GENERATED = """
/* "typedbytes/_it.pyx":3
 *     if a > b:             # <<<<<<<<<<<<<<
 */
  __pyx_t_1 = (__pyx_v_a > __pyx_v_b);
  if (__pyx_t_1) {
    /* "src/typedbytes/core/it.pxi":9
*/
    __pyx_t_2 = call(); if (unlikely(__pyx_t_2 == -1)) __PYX_ERR(0, 9, __pyx_L1_error)
    __pyx_t_3 = 0;
  /* "typedbytes/_it.pyx":7
*/
  /*finally:*/ {
    __Pyx_ErrFetch();
    release();
  }
  /* function exit code */
  return __pyx_r;
"""


def test_lines_and_outcomes_are_counted_where_they_come_from():
    def line(words, times, *outcomes, function="__pyx_f_work"):
        number = next(number for number, text in enumerate(GENERATED.split("\n"), 1) if words in text)
        return dict(
            line_number=number, count=times, function_name=function, branches=[dict(count=count) for count in outcomes]
        )

    counts = line_coverage.Counts()
    body = [line("__pyx_t_1 =", 5), line("if (__pyx_t_1)", 5, 0, 5), line("call()", 0, 0, 0), line("__pyx_t_3", 7)]
    end = [
        line("ErrFetch", 0),
        line("release", 5),
        line("return", 5, 5, 0),
        line("call()", 9, 9, 9, function="__pyx_pw_work"),
    ]
    counts.add_generated(GENERATED.split("\n"), body + end)
    counts.add_header("_it.h", [dict(line_number=4, count=2, branches=[dict(count=2), dict(count=0)])])
    assert counts.lines == {("_it.pyx", 3): 5, ("core/it.pxi", 9): 0, ("_it.pyx", 7): 5, ("_it.h", 4): 2}
    assert {key: sorted(table.values()) for key, table in counts.branches.items()} == {
        ("_it.pyx", 3): [0, 5],
        ("_it.h", 4): [0, 2],
    }
    assert {key: sorted(table.values()) for key, table in counts.calls.items()} == {("core/it.pxi", 9): [0, 0]}


def test_lines_that_no_test_reaches_are_in_the_sources():
    for name, start in line_coverage.UNREACHABLE:
        lines = [
            (number, line.strip())
            for number, line in enumerate(line_coverage.source_of(name), 1)
            if line.strip().startswith(start)
        ]
        assert [
            line_coverage.why_unreachable(name, number) == line_coverage.why_listed(name, line) is not None
            for number, line in lines
        ] == [True]
    assert line_coverage.why_listed("_sorting/sorter.pxi", "return TOO_LONG") is None


@pytest.mark.parametrize(
    ("name", "line", "function"),
    [
        ("core/codec/containers.pxi", "return encode_held_list(e, kept)", "encode_shared_list"),
        ("core/codec/single_scalar.pxi", "return try_store_container(p, end, <PyObject*>obj)", "try_store_shared"),
        ("core/codec/strings.pxi", "empty_slot(&CACHE[i])", "release_strings"),
        ("core/threads.h", "(void)release;", "free_strings_at_thread_end"),
        ("core/codec/encode.pxi", "return encode_buffer(e, obj)    # so that no other thread can resize it", None),
    ],
)
def test_lines_that_only_run_without_the_gil_are_known(name, line, function):
    assert function is None or function in line_coverage.WITHOUT_GIL
    known = [
        line_coverage.why_unreachable(name, number)
        for number, text in enumerate(line_coverage.source_of(name), 1)
        if text.strip() == line
    ]
    assert line_coverage.NO_GIL in known
    others = [
        number
        for number, text in enumerate(line_coverage.source_of("core/codec/containers.pxi"), 1)
        if text == "        encode_value(e, PyList_GET_ITEM(items, frame.index))"
    ]
    assert others and not any(line_coverage.why_unreachable("core/codec/containers.pxi", number) for number in others)


def test_a_mark_that_no_test_can_have_is_refused():
    """A gate that leaves out what is marked otherwise would leave out nothing, and one that asks for it run nothing."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-m", "not hadoop and not unsanitised", __file__]
    done = subprocess.run(command, cwd=build_copies.ROOT, capture_output=True, text=True)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert (
        done.stderr
        == "ERROR: -m 'not hadoop and not unsanitised': expected marks of pyproject.toml, found unsanitised\n\n"
    )


def test_figures_are_parsed_as_they_were_reported(capsys):
    figures.report(found=0)
    figures.report(found=1, of={"a": 2.5})
    assert figures.parse("more\n" + capsys.readouterr().out + "more\n") == {"found": 1, "of": {"a": 2.5}}
    assert figures.parse("nothing\n") is None


def commits_named():
    """Return the commits that kept figures name, each with the file that names it."""
    for gate, figure in reliability.kept().items():
        yield f"figures.json: {gate}", figure["sources"].rstrip("+")
    for path in sorted((build_copies.ROOT / "bench" / "results").glob("*.json")):
        yield path.name, json.loads(path.read_text("utf-8"))["environment"].get("commit", "").removesuffix("-dirty")


@pytest.mark.checkout
def test_what_was_measured_can_be_checked_out():
    """A rewrite gives commits other names: figures of one that is gone are of unknown sources."""

    def git(*words):
        return subprocess.run(["git", *words], cwd=build_copies.ROOT, capture_output=True, text=True)

    if not shutil.which("git") or git("rev-parse", "--is-shallow-repository").stdout != "false\n":
        pytest.skip("the history is not here: no Git, or a shallow clone")
    gone = [(name, of) for name, of in commits_named() if git("merge-base", "--is-ancestor", of, "HEAD").returncode]
    assert not gone


def test_the_page_has_the_figures_that_are_kept():
    page = reliability.PAGE.read_text("utf-8")
    assert reliability.written(page) == page
    assert reliability.kept().keys() <= reliability.GATES.keys()
