"""Page faults: memory that the last value, output or piece freed is used again, and the C library keeps its pages.

Not here: the form on the public interpreter API, which copies an output to shorten it. Invariant: a process of its own
counts, since what the C library keeps depends on what was freed before.
"""

import io
import random

import pytest

import typedbytes
from support.subprocess_runs import run_fresh
from typedbytes import block, sequencefile

pytestmark = pytest.mark.unsanitized("it keeps what was freed")

PRELUDE = """
    import io, pathlib, resource, sys, typedbytes
    from typedbytes import block, columns, sequencefile

    def fewest_faults(call, ncalls=12):
        faults = []
        for _ in range(ncalls):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            call()
            faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
        return min(faults)

    def compress():
        with sequencefile.open(io.BytesIO(), "w", compression="block") as writer:
            writer.writes(sequencefile.open(io.BytesIO(data)))

"""


def sequence_file(**how):
    file = io.BytesIO()
    with sequencefile.open(file, "w", **how) as writer:
        writer.writes((number, random.randbytes(500).hex()) for number in range(3_000))
    return file.getvalue()


TEXTS = ["a text " * 200] * 1_000
#: What is done again and again with which data.
USES = {
    "typedbytes.loads(data)": lambda: typedbytes.dumps([bytes(1_000)] * 1_000),
    "typedbytes.Decoder().decode_from(data)": lambda: typedbytes.dumps([bytes(20_000)] * 100),
    "typedbytes.load(io.BytesIO(data))": lambda: typedbytes.dumps([bytes(20_000)] * 100),
    "typedbytes.Reader(data).read()": lambda: typedbytes.dumps([bytes(20_000)] * 100),
    "typedbytes.PairedInput(io.BytesIO(data)).read()": lambda: typedbytes.dumps([bytes(20_000)] * 100) * 2,
    "list(block.BlockReader(io.BytesIO(data)))": lambda: block.BlockEncoder(wire="native").encode(
        [[bytes(20_000)] * 100]
    ),
    "[None for _ in typedbytes.Reader(io.BytesIO(data))]": lambda: typedbytes.dumps([bytes(1_000)] * 4_000) * 4,
    "[None for _ in typedbytes.PairReader(io.BytesIO(data))]": lambda: typedbytes.dumps(TEXTS) * 10,
    "[None for _ in columns.BatchReader(io.BytesIO(data))]": lambda: (
        (typedbytes.dumps(1) + typedbytes.dumps("a text " * 200)) * 10_000
    ),
    "[None for _ in sequencefile.open(io.BytesIO(data))]": lambda: sequence_file(compression="block"),
    "list(map(len, sequencefile.open(io.BytesIO(data))))": lambda: sequence_file(compression="block", codec="snappy"),
    "compress()": lambda: sequence_file(),
}


@pytest.mark.parametrize("use", USES)
def test_what_was_freed_is_used_again(use, tmp_path):
    # It took a fault for each page, 100 to 4,000. The process has its data from a file:
    # making it would free memory too.
    (tmp_path / "data").write_bytes(USES[use]())
    code = f"{PRELUDE}    data = pathlib.Path(sys.argv[1]).read_bytes()\n    print(fewest_faults(lambda: {use}))"
    assert int(run_fresh(code, tmp_path / "data")) < 8


@pytest.mark.parametrize("npairs", [4_000, 7_500, 9_500, 20_000])
def test_a_large_output_uses_the_memory_of_the_last_one(npairs):
    # 19 bytes a pair: outputs on both sides of 128 KiB, from which the C library returns the end of its memory
    code = f"""{PRELUDE}
    encode = typedbytes.Encoder().encode
    values = [("word", number) for number in range({npairs})]
    print(fewest_faults(lambda: encode(values), 20))
    """
    assert int(run_fresh(code)) < 2


def test_a_command_uses_the_memory_of_the_last_piece(tmp_path):
    (tmp_path / "data").write_bytes((typedbytes.dumps("key") + typedbytes.dumps("a text " * 150)) * 20_000)
    code = """
        import resource, subprocess, sys
        for arguments in (["--help"], ["to-json", sys.argv[1]]):
            subprocess.run([sys.executable, "-m", "typedbytes", *arguments], stdout=subprocess.DEVNULL, check=True)
            print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt)
    """
    start, both = map(int, run_fresh(code, tmp_path / "data").split())
    assert both < 3 * start  # more than 5,000 for its 20 MB, in a start of 2,000
