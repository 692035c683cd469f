"""The command count."""

from support.commands import LIST, STREAM, TEXT, good, rows, sequence_file


def test_count_with_a_row_for_each_input(file):
    first, second = file(STREAM), file(b"", "b.tb")
    assert rows(good("count", "--json", first, second)) == [
        {"input": first, "records": 4, "unit": "values", "bytes": 31},
        {"input": second, "records": 0, "unit": "values", "bytes": 0},
    ]


def test_counts_of_each_input_of_pairs_and_values(file):
    counts = rows(good("count", "--json", file(TEXT * 3), file(sequence_file(), "a.seq")))
    assert [(each["records"], each["unit"]) for each in counts] == [(3, "values"), (100, "pairs")]


def test_count(file):
    assert good("count", stdin=STREAM) == b"4\n"
    assert good("count", file(STREAM), file(LIST, "b.tb")) == b"5\n"
