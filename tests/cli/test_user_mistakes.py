"""What a newcomer types first: options nearly right, binary output on a terminal, paths in each form."""

import bz2
import gzip
import json
import lzma
import os
import pty
import subprocess

import pytest

import typedbytes as tb
from support.commands import COMMAND, bad, good, rows, run
from support.subprocess_runs import SECONDS
from typedbytes._base.zstd import zstd

PAIRS = tb.Encoder().encode_pairs(
    [(name, {"n": n, "tags": [f"t{n}", "x"]}) for name, n in [("b", 10), ("a", 9), ("c", -1)]]
)


@pytest.mark.parametrize(
    "arguments, nearest",
    [(["head", "--pair"], "--pairs"), (["sort", "--revers"], "--reverse"), (["cat", "--form=json"], "--from")],
)
def test_an_option_that_is_nearly_right(arguments, nearest):
    result = run(*arguments)
    assert result.returncode == 64
    assert (
        f"unrecognized arguments: {arguments[1]}; did you mean {nearest}? (see typedbytes {arguments[0]} --help)"
        in result.stderr.decode()
    )


def test_a_version_that_is_nearly_right():
    assert bad(64, "--verson")[1] == "no command; did you mean --version? (see typedbytes --help)"


def test_an_unknown_option_without_suggestion():
    assert b"unrecognized arguments: --zzz (see typedbytes head --help)" in run("head", "--zzz").stderr


BINARY = [
    ["dumptb"],
    ["from-json"],
    ["from-text"],
    ["cat", "--to", "typedbytes", "--pairs"],
    ["sort", "--to", "typedbytes", "--pairs"],
    ["head", "--to", "sequencefile", "--pairs"],
    ["convert", "--to", "block", "--pairs"],
    ["convert", "--to", "parquet", "--pairs"],
    ["block", "encode"],
    ["block", "echo"],
]


@pytest.mark.parametrize("arguments", BINARY, ids=" ".join)
def test_binary_output_is_refused_on_a_terminal(arguments):
    ours, theirs = pty.openpty()
    try:
        result = subprocess.run(
            [*COMMAND, *arguments], input=PAIRS, stdout=theirs, stderr=subprocess.PIPE, timeout=SECONDS
        )
    finally:
        os.close(theirs)
        try:
            shown = os.read(ours, 1000)
        except OSError:  # nothing, and the terminal is closed
            shown = b""
        os.close(ours)
    assert (result.returncode, shown) == (64, b"")
    message = f"typedbytes {arguments[0]}: binary output is not written to a terminal: give -o FILE, or pipe it"
    assert message.encode() in result.stderr
    assert result.stderr.count(b"\n") == 1


def test_a_file_is_written_from_a_terminal(tmp_path):
    ours, theirs = pty.openpty()
    result = subprocess.run(
        [*COMMAND, "from-json", "-o", tmp_path / "out"], input=b"1\n", stdout=theirs, timeout=SECONDS
    )
    os.close(theirs)
    os.close(ours)
    assert (result.returncode, (tmp_path / "out").read_bytes()) == (0, tb.dumps(1))


def _cut(path):
    return [tb.loads(each) for each in tb.Reader(good("cut", "--pairs", "-f", path, stdin=PAIRS), raw=True)]


@pytest.mark.parametrize(
    "path", ["value['tags'][0]", 'value["tags"][0]', "value.tags.0", "value.tags[0]", ".tags[0]", '["tags"][0]']
)
def test_a_path_in_each_form(path):
    assert _cut(path) == ["t10", "t9", "t-1"]
    assert [
        tb.loads(each)["tags"][0]
        for _, each in tb.PairReader(good("sort", "--pairs", "--by", path, stdin=PAIRS), raw=True)
    ] == ["t-1", "t10", "t9"]


@pytest.mark.parametrize("path", ["value.", "value..a", "value.a b", "value.[0]", "valuex", "value.-1", "value.01", ""])
def test_an_invalid_path(path):
    message = f"expected a path such as key, value[0] or value.name, not {path!r}"
    assert message in bad(64, "cut", "--pairs", "-f", path, stdin=PAIRS)[1]
    assert message in bad(64, "sort", "--pairs", "--by", path, stdin=PAIRS)[1]


@pytest.mark.parametrize("order, keys", [("bytes", "abc"), ("key", "abc"), ("value.n", "cab")])
@pytest.mark.parametrize("form", ["json", "typedbytes"])
def test_sort_by_key_and_by_path(order, keys, form):
    data = good("sort", "--pairs", "--by", order, "--to", form, stdin=PAIRS)
    found = (
        [json.loads(line)[0] for line in data.splitlines()]
        if form == "json"
        else [key for key, _ in tb.PairReader(data)]
    )
    assert "".join(found) == keys


def test_a_second_order_decides_among_equals():
    records = [("x", [2, "b"]), ("y", [1, "b"]), ("z", [2, "a"]), ("w", [1, "b"])]
    stdin = tb.Encoder().encode_pairs(records)
    data = good("sort", "--pairs", "--by", "value[0]", "--by", "value[1]", stdin=stdin)
    assert list(tb.PairReader(data)) == sorted(records, key=lambda record: record[1])
    data = good("sort", "--pairs", "--by", "value[1]", "--by", "key", stdin=stdin)
    assert [key for key, _ in tb.PairReader(data)] == ["z", "w", "x", "y"]
    message = "--by bytes leaves no ties to another --by: it stands alone"
    assert message in bad(64, "sort", "--pairs", "--by", "bytes", "--by", "key", stdin=stdin)[1]


def test_sort_by_what_is_missing():
    assert (
        "no value.m in the record to sort it by at offset 0, record 0"
        in bad(65, "sort", "--pairs", "--by", "value.m", stdin=PAIRS)[1]
    )
    assert (
        "argument --by: values have no key (see --pairs)" in bad(64, "sort", "--values", "--by", "key", stdin=PAIRS)[1]
    )


def test_the_most_frequent_keys_are_called_keys():
    assert [list(row) for row in rows(good("freq", "--pairs", "-n", "1", stdin=PAIRS))] == [["count", "share", "key"]]
    assert [list(row) for row in rows(good("freq", "--values", "-n", "1", stdin=PAIRS))] == [
        ["count", "share", "value"]
    ]
    assert [
        list(row)[-1]
        for row in rows(good("stats", "--pairs", "-n", "1", stdin=PAIRS))
        if row["section"] == "most frequent"
    ] == ["key"]


@pytest.mark.parametrize("suffix, library", [(".gz", gzip), (".bz2", bz2), (".xz", lzma), (".zst", zstd)])
def test_an_output_is_compressed_by_its_name(tmp_path, suffix, library):
    path = tmp_path / f"out.tb{suffix}"
    good("cat", "--pairs", "-o", path, stdin=PAIRS)
    assert library.decompress(path.read_bytes()) == PAIRS
    good("sort", "--pairs", path, "-o", path)
    assert [key for key, _ in tb.PairReader(path)] == ["a", "b", "c"]
    before = path.read_bytes()
    bad(65, "cat", "--pairs", "-o", path, stdin=PAIRS[:-1])
    assert path.read_bytes() == before


def test_a_compressed_output_that_is_not_complete_has_no_end(tmp_path):
    path = tmp_path / "pipe.gz"
    os.mkfifo(path)
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        bad(65, "cat", "--pairs", "-o", path, stdin=PAIRS[:-1])
        data = cat.stdout.read()
    with pytest.raises(EOFError):
        gzip.decompress(data or b"\x1f\x8b")


READ_ONLY = [".deflate", ".snappy", ".lz4", ".lzo_deflate", ".lzo"]


@pytest.mark.parametrize("suffix", READ_ONLY)
def test_no_output_is_named_as_what_is_only_read(tmp_path, suffix):
    path = tmp_path / f"out.tb{suffix}"
    message = f"{path}: files named {suffix} are read, not written: use .gz, .bz2, .xz, .zst, or another suffix"
    assert message in bad(64, "cat", "--pairs", "-o", path, stdin=PAIRS)[1]
    assert message in bad(64, "convert", "--to", "parquet", "--pairs", "-o", path, stdin=PAIRS)[1]
    assert not path.exists()


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_formats_with_a_compression_of_their_own_are_not_compressed_as_a_whole(tmp_path, suffix):
    for what, form, command in (
        ("SequenceFile", "seq", "convert"), ("SequenceFile", "seq", "cat"), ("SequenceFile", "seq", "sort"),
        ("Parquet file", "parquet", "convert"),
    ):  # fmt: skip
        path = tmp_path / f"out.{form}{suffix}"
        to = ("--to", "sequencefile") if command != "convert" else ()
        said = bad(64, command, "--pairs", *to, "-o", path, stdin=PAIRS)[1]
        assert f"{path}: a {what} is not compressed as a whole, which its readers refuse: leave out {suffix}" in said
        assert not path.exists()


def test_an_arrow_stream_is_compressed_by_its_name(tmp_path):
    """pyarrow.input_stream() goes by the name too."""
    good("convert", "--pairs", "-o", tmp_path / "out.arrow.gz", stdin=PAIRS)
    assert good("convert", "--to", "typedbytes", "--pairs", tmp_path / "out.arrow.gz") == good(
        "convert", "--to", "typedbytes", "--pairs", stdin=good("convert", "--pairs", "--to", "arrow", stdin=PAIRS)
    )


def test_a_sequencefile_is_never_compressed_by_its_name(tmp_path):
    path = tmp_path / "part.gz"
    good("loadtb", path, stdin=PAIRS)
    assert path.read_bytes()[:3] == b"SEQ"


@pytest.mark.parametrize(
    "words",
    [
        ["submit", "--dry-run", "--mapper", "cat", "--reducer", "cat", "x", "-o", "y"],
        ["to-json", "--values", "--type", "builtins:str", "IN"],
        ["run", "job.py", "in.txt", "-o", "out", "-q"],
        ["run", "--mapper", "cat", "--inline", "-q", "IN"],
    ],
)
def test_a_current_folder_that_is_gone(tmp_path, words):
    (tmp_path / "in.tb").write_bytes(tb.dumps("hi"))
    words = [str(tmp_path / "in.tb") if word == "IN" else word for word in words]
    command = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh", *COMMAND, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, cwd=tmp_path)
    *notes, said = done.stderr.splitlines()
    assert said == f"typedbytes {words[0]}: the current folder does not exist any more: change to another one"
    assert (done.returncode, done.stdout) == (74, "") and all(each.startswith("typedbytes submit: ") for each in notes)
