"""Commands that only look at values need no memory for a large one: sparse files under a limit of address space."""

import json
import os
import random
import resource
import struct

import pytest

import typedbytes as tb
from support.commands import bad, good, rows, run

pytestmark = pytest.mark.unsanitized("it keeps what was freed")

LIMIT = 256 << 20  # an interpreter with its libraries takes 100 MiB
LARGE = 300_000_000  # more than LIMIT


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """Return the path of a file with two VECTORs.

    Each has BYTES and a STRING of 300 MB, a MAP of a long key, and one whose key is longest.
    """
    path = tmp_path_factory.mktemp("sparse") / "large.tb"
    with open(path, "wb") as file:
        for _ in range(2):
            file.write(b"\x08" + struct.pack(">i", 3))
            for head in (b"\x00", b"\x07"):
                file.write(head + struct.pack(">i", LARGE))
                file.seek(LARGE, 1)
            file.write(
                b"\x0a" + struct.pack(">i", 2) + tb.dumps("k" * 1000) + tb.dumps(1) + b"\x07" + struct.pack(">i", LARGE)
            )
            file.seek(LARGE, 1)
            file.write(tb.dumps(True))
    return str(path)


COMMANDS = [
    ["count", "--values"], ["count", "--pairs"], ["sniff"], ["schema", "--values"], ["schema", "--pairs"],
    ["stats", "--values"], ["stats", "--pairs", "--reducers", "3"], ["validate", "--values"], ["validate", "--pairs"],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_large_value_is_not_held(command, sparse):
    done = run(*command, "--json", sparse, preexec_fn=limit_memory)
    assert (done.returncode, done.stderr) == (0, b"")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if command[0] == "schema":
        of = ("key", "value") if "--pairs" in command else ("value",)
        n = 2 // len(of)
        each = [
            ("", "VECTOR"),
            ("[0]", "BYTES"),
            ("[1]", "STRING"),
            ("[2]", "MAP"),
            (f"[2]['{'k' * 1000}']", "INT"),
            ("[2][*]", "BOOL"),
        ]
        assert [(row["place"], row["type"], row["count"]) for row in found] == [
            (part + path, kind, n) for part in of for path, kind in each
        ]
    elif command[0] == "stats":
        assert sum(row["bytes"] for row in found if row["section"] == "types") == found[0]["bytes"] > 6 * LARGE
    elif command[0] == "validate":
        n = 1 if "--pairs" in command else 2
        assert found == [
            {"input": sparse, "ok": True, "records": n, "unit": command[1][2:], "bytes": os.path.getsize(sparse)}
        ]
    elif command[0] == "count":
        assert found[0]["records"] == (1 if "--pairs" in command else 2)
    else:
        assert (found[0]["format"], found[0]["types"], found[0]["holds"]) == ("typedbytes", "VECTOR", "values or pairs")


def test_a_length_beyond_the_end_of_a_large_file(tmp_path):
    """Encrypted data, or any other: what its first bytes declare is not there, though more than is looked at."""
    with open(tmp_path / "a", "wb") as file:
        file.write(b"\xc8" + struct.pack(">i", LARGE))
        file.truncate(LARGE)
    done = run("sniff", str(tmp_path / "a"), preexec_fn=limit_memory)
    row = json.loads(done.stdout)
    assert (row["format"], row["fault"]) == (
        "unknown",
        f"a length of {LARGE} goes beyond the end of the input at offset 0",
    )


def payload(choose, kind):
    """Return bytes, or text as bytes of UTF-8, that are good, or wrong somewhere."""
    nbytes = choose.choice([0, 10, 65_530, 65_535, 65_536, 70_000, 200_000])
    if kind == "bytes":
        return choose.randbytes(nbytes)
    # a character is cut at any place
    text = ("x" * choose.randrange(9) + "größer " * (nbytes // 9 + 1)).encode()[:nbytes]
    text = text.decode("utf-8", "ignore").encode()
    defect = choose.choice([b"", b"", b"\xff", b"\xe2\x28\xa1", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98"])
    at = choose.choice([0, len(text) // 2, len(text)])
    at = len(text[:at].decode("utf-8", "ignore").encode())
    return text[:at] + defect + text[at:]


def encoded(choose, depth=0):
    """Return an encoded value that is complete, and may be wrong."""
    kind = choose.choice(["bytes", "text", "int", "pickle"] + ["vector", "list", "map"] * (depth < 3))
    if kind in ("bytes", "text"):
        data = payload(choose, kind)
        return (b"\0" if kind == "bytes" else b"\7") + struct.pack(">i", len(data)) + data
    if kind == "pickle":
        return choose.choice([tb.dumps(None), b"\x64\0\0\0\1x"])
    items = [encoded(choose, depth + 1) for _ in range(choose.randrange(4))]
    if kind == "map":
        items = [part for item in items for part in (encoded(choose, 9), item)]
        return b"\x0a" + struct.pack(">i", len(items) // 2) + b"".join(items)
    head = {"vector": b"\x08" + struct.pack(">i", len(items)), "list": b"\x09", "int": b""}[kind]
    return tb.dumps(5) if kind == "int" else head + b"".join(items) + (b"\xff" if kind == "list" else b"")


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_faults_around_what_is_not_held_are_those_of_decoding(pairs, seed, file):
    """Each record decoded by itself says which fault it has, and where."""
    choose = random.Random(seed)
    records = [b"".join(encoded(choose) for _ in range(1 + pairs)) for _ in range(40)]
    expected, offset = [], 0
    for number, record in enumerate(records):
        try:
            tb.Decoder().decode_pairs(record) if pairs else tb.Decoder().decode(record)
        except tb.DecodeError as error:
            expected.append((error.message.split(";")[0], offset + error.offset, number, error.path))
        offset += len(record)
    done = run("validate", "--pairs" if pairs else "--values", "-n", "100", file(b"".join(records)))
    (row,) = rows(done.stdout)
    found = [
        (each["message"].split(" (--")[0], each["offset"], each["record"], each["path"])
        for each in row.get("faults", ())
    ]
    assert len(expected) > 5 and len(found) == len(expected)
    for (message, *where), (full, *at) in zip(found, expected):
        assert full.startswith(message) and where == at, (message, where, full, at)
    assert (row["records"], row["bytes"]) == (len(records) - len(expected), offset)


def test_a_large_text_in_another_encoding_is_accepted(file):
    data = b"\7" + struct.pack(">i", 300_000) + "größer".encode("latin-1") * 50_000 + tb.dumps(1)
    assert "invalid start byte at its byte 2" in bad(65, "validate", "--values", file(data))[1]
    assert rows(good("validate", "--values", "--unicode-errors", "surrogateescape", file(data)))[0]["ok"]


@pytest.mark.parametrize("options", [["-n", "1"], ["-n", "2", "--smallest"], ["-n", "0"]], ids=" ".join)
def test_top_keeps_few_large_records(options, tmp_path):
    """Each is larger than all before it, or smaller: none is known not to be wanted."""
    path, order = tmp_path / "large.tb", -1 if "--smallest" in options else 1
    with open(path, "wb") as file:
        for number in range(80):
            file.write(b"\x08\0\0\0\2" + tb.dumps(order * number) + b"\0" + struct.pack(">i", 5_000_000))
            file.seek(5_000_000, 1)
        file.truncate()
    done = run("top", "--values", "--by", "[0]", *options, path, preexec_fn=limit_memory)
    assert (done.returncode, done.stderr) == (0, b"")
    numbers = [value[0] for value in tb.Reader(done.stdout)]
    assert numbers == [order * number for number in range(79, 79 - int(options[1]), -1)]
