"""The command sample."""

import os

from support.commands import NUMBERS, bad, good, values
from typedbytes.cli.main import parser_of


def test_sample(file):
    for seed in range(2):
        sample = values(good("sample", "-n", "5", "--seed", str(seed), stdin=NUMBERS))
        assert len(sample) == 5 and sample == sorted(set(sample)) and set(sample) <= set(range(20))
        assert (
            values(good("sample", "-n", "5", "--seed", str(seed), file(NUMBERS[:35]), file(NUMBERS[35:], "b.tb")))
            == sample
        )
    assert values(good("sample", "-n", "99", stdin=NUMBERS)) == list(range(20))
    assert good("sample", "-n", "0", stdin=NUMBERS) == good("sample", "-p", "0", stdin=NUMBERS) == b""
    assert good("sample", "-p", "1", stdin=NUMBERS) == NUMBERS
    assert good("sample", "-p", "1e-310", stdin=NUMBERS) == b""
    assert "from 0 to 1" in bad(64, "sample", "-p", "2")[1]


def test_samples_are_fair():
    from typedbytes.cli.commands import sample

    parser = parser_of("sample")

    class Output:
        is_terminal = False

        def __init__(self):
            self.data = b""

        def refuse_terminal(self):
            pass

        def write(self, data):
            self.data += data

    def drawn(seed):
        output = Output()
        sample.run(sample.Settings(parser.parse(["-n3", "--values", "--to", "typedbytes", f"--seed={seed}"])), output)
        return values(output.data)

    drawing, ours = os.pipe()
    counts = [0] * 20
    stdin = os.dup(0)
    try:
        for seed in range(2000):
            os.write(ours, NUMBERS)
            os.close(ours)
            os.dup2(drawing, 0)
            os.close(drawing)
            for value in drawn(seed):
                counts[value] += 1
            drawing, ours = os.pipe()
    finally:
        os.dup2(stdin, 0)
        for descriptor in (stdin, drawing, ours):
            os.close(descriptor)
    # 300 each, with a standard deviation of 16.
    assert sum(counts) == 6000 and min(counts) > 220 and max(counts) < 380
