"""Page faults of outputs: memory that the last output freed is used again, and the C library keeps its pages.

Not here: the form on the public interpreter API, which copies an output to shorten it. Invariant: a process of its own counts, since what
the C library keeps depends on what was freed before.
"""

import pytest

from subprocess_runs import run_fresh


@pytest.mark.parametrize("npairs", [4_000, 7_500, 9_500, 20_000])
def test_a_large_output_uses_the_memory_of_the_last_one(npairs):
    # 19 bytes a pair: outputs on both sides of 128 KiB, from which the C library returns the end of its memory
    code = f"""
        import resource, typedbytes
        encode, faults = typedbytes.Encoder().encode, []
        values = [("word", number) for number in range({npairs})]
        for _ in range(20):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            encode(values)
            faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
        print(min(faults))
    """
    assert int(run_fresh(code)) < 2
