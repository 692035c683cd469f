"""The command bench."""

from support.commands import ONE, PAIR_STREAM, bad, good, rows


def test_bench(file, tmp_path):
    plot = tmp_path / "plot.svg"
    found = rows(good("bench", "--pairs", "--plot", str(plot), file(PAIR_STREAM)))
    assert [row["operation"] for row in found] == ["walk", "decode", "encode", "to JSON"]
    assert all(row["records"] == 100 and row["bytes"] == len(PAIR_STREAM) and row["MB/s"] > 0 for row in found)
    assert plot.read_text().startswith("<svg") and plot.read_text().count("<rect") == 4
    assert "no records" in bad(64, "bench")[1]
    assert bad(65, "bench", stdin=ONE + b"\x07\x00\x00\x00\x01\xff") == (
        b"", "the records to measure: STRING is not UTF-8: invalid start byte at its byte 0 at offset 5, record 1"
    )  # fmt: skip
