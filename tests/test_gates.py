"""The gates themselves: that the list of faults fits the sources, that leaks are seen, and that there are none."""

import pytest

import typedbytes
from fresh import run_fresh
from gates import faults, leaks


def test_every_fault_can_be_put_in():
    for fault in faults.FAULTS:
        text = faults.source_of(fault).read_text("utf-8")
        assert text.count(fault.old) == 1, f"{fault.name}: stands {text.count(fault.old)} times in {fault.file}"
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
