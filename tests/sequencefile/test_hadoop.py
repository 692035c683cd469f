"""SequenceFiles and Hadoop's own classes, live: each reads what the other writes, split by split, key by key."""

import io
import json
import random
import shutil

import pytest

import typedbytes as tb
from support.hadoop_support import SEQUENCE_FILE_INPUT, ZSTD, hadoop
from support.java_view import digits_by_value
from support.sequencefiles import CODECS, files, kinds, same
from support.small_sequencefiles import DECODERS, pairs_of
from support.vectors import ROOT
from typedbytes import sequencefile

pytestmark = [pytest.mark.hadoop, pytest.mark.lowest]

OURS = [ZSTD if codec == "zstd" else codec for codec in CODECS if codec != "lzo"]
FORMS = [("none", "default"), *((compression, codec) for compression in ("record", "block") for codec in OURS)]


def keys_of(path, **options):
    """Return the keys of a file or of a split."""
    return [key for key, _ in pairs_of(path, **options)]


def test_recorded_vectors_are_what_hadoop_writes_today():
    records, fresh = hadoop().sequence_file_vectors()
    assert digits_by_value(records) == digits_by_value((ROOT / "sequencefile" / "records.jsonl").read_bytes())
    fresh = {line["name"]: bytes.fromhex(line["hex"]) for line in map(json.loads, fresh.splitlines())}
    assert fresh.keys() == files().keys()
    for name, data in fresh.items():  # whose compressed bytes may hang on the machine
        one, other = sequencefile.Reader(data, raw=True), sequencefile.Reader(files()[name], raw=True)
        assert list(one) == list(other)
        assert one.sync_marker == other.sync_marker


@pytest.mark.parametrize("compression, codec", FORMS)
@pytest.mark.parametrize("version", [4, 5, 6])
def test_hadoop_reads_what_we_write(compression, codec, version, tmp_path):
    if version == 4 and codec != "default":
        return
    for kind, expected in kinds().items() if version == 6 else [("text-int", kinds()["text-int"])]:
        path = tmp_path / kind
        metadata = {"kind": kind, "€": ""} if version == 6 else {}
        with sequencefile.Writer(
            path, key_class=expected["keyClass"], value_class=expected["valueClass"], compression=compression,
            codec=codec, metadata=metadata, version=version,
        ) as writer:  # fmt: skip
            for each in expected["records"]:
                writer.write_raw(bytes.fromhex(each["keyHex"]), bytes.fromhex(each["valueHex"]))
        header, records = hadoop().read_sequence_file(path)
        assert records == expected["records"]
        assert (header["keyClass"], header["compression"]) == (expected["keyClass"], compression)
        assert header["codec"] == writer.codec
        assert dict(header["metadata"]) == metadata


SIMPLE = [kind for kind in kinds() if not any(word in kind for word in ("map", "object", "primitives", "array"))]


@pytest.mark.parametrize("kind", SIMPLE)
def test_hadoop_reads_our_objects(kind, tmp_path):
    expected = kinds()[kind]
    pairs = sequencefile.Reader(files()[f"none/{kind}"], exact=True).read_all()
    with sequencefile.Writer(
        tmp_path / "f", key_class=expected["keyClass"], value_class=expected["valueClass"]
    ) as writer:
        assert writer.writes(pairs) == len(pairs)
    _, records = hadoop().read_sequence_file(tmp_path / "f")
    assert records == expected["records"]


@pytest.mark.parametrize("compression, codec", FORMS)
def test_large_values_and_many_chunks(compression, codec, tmp_path):
    """Longer than the buffers of Hadoop's block codecs, and blocks of such values: chunks within chunks, both ways."""
    size = 700_000
    hadoop().write_sequence_file(tmp_path / "theirs", compression, codec, nrecords=4, nbytes=size)
    pairs = [(f"key {i}", bytes([i * 31]) * (size + i)) for i in range(4)]
    assert pairs_of(tmp_path / "theirs") == pairs
    noise = random.Random(1).randbytes(size)
    with sequencefile.Writer(
        tmp_path / "ours", key_class="IntWritable", value_class="BytesWritable", compression=compression, codec=codec
    ) as writer:
        writer.writes([(1, noise), (2, b""), (3, bytes(size))])
    _, records = hadoop().read_sequence_file(tmp_path / "ours")
    assert [each["valueHex"][8:] for each in records] == [noise.hex(), "", bytes(size).hex()]


def spread(rng, size, header_end):
    """Return offsets to split a file at: at random, and around its header and its end."""
    offsets = {0, header_end - 1, header_end, header_end + 1, size - 21, size - 20, size - 1}
    offsets.update(rng.randrange(size) for _ in range(12))
    return sorted(offset for offset in offsets if 0 <= offset < size)


@pytest.mark.parametrize(
    "compression, codec", [("none", "default"), ("record", "gzip"), ("block", "snappy"), ("block", "bzip2")]
)
def test_splits_are_hadoops(compression, codec, tmp_path):
    path = tmp_path / "f"
    rng = random.Random(f"{compression} {codec}")
    for nrecords, nbytes, interval in ((300, 20, 100), (40, 500, 100), (7, 3, 2000), (0, 0, 0)):
        hadoop().write_sequence_file(path, compression, codec, nrecords=nrecords, nbytes=nbytes, sync_interval=interval)
        whole = keys_of(path)
        assert whole == [f"key {i}" for i in range(nrecords)]
        size = path.stat().st_size
        with sequencefile.Reader(path) as reader:
            header_end = reader.offset
        for _ in range(4):
            starts = [0, *spread(rng, size, header_end)[1:]]
            splits = [(start, end - start) for start, end in zip(starts, [*starts[1:], size])]
            ours = [keys_of(path, start=start, length=length) for start, length in splits]
            assert ours == hadoop().split_sequence_file(path, splits)
            assert sum(ours, []) == whole
            alone = [(rng.randrange(size), rng.randrange(size)) for _ in range(10)]
            ours = [keys_of(path, start=start, length=length) for start, length in alone]
            assert ours == hadoop().split_sequence_file(path, alone)


def test_splits_of_our_files_are_hadoops(tmp_path):
    path = tmp_path / "f"
    for compression, options in (("none", {"sync_interval": 300}), ("block", {"block_size": 400})):
        with sequencefile.Writer(
            path, key_class="Text", value_class="LongWritable", compression=compression, **options
        ) as writer:
            writer.writes((f"key {i}", i) for i in range(500))
        size = path.stat().st_size
        splits = [(start, 97) for start in range(0, size, 97)]
        ours = [keys_of(path, start=start, length=length) for start, length in splits]
        assert ours == hadoop().split_sequence_file(path, splits)
        assert sum(ours, []) == [f"key {i}" for i in range(500)]


@pytest.mark.parametrize("compression", ["none", "record", "block"])
def test_dumptb_and_loadtb_are_hadoops(compression, tmp_path):
    pairs = (ROOT / "foreign" / "hadoop" / "golden_pairs.tb").read_bytes()
    hadoop().load_pairs(pairs, tmp_path / "theirs")
    with sequencefile.Reader(tmp_path / "theirs") as reader:
        assert reader.read_typed(1 << 30) == pairs
    with sequencefile.Writer(tmp_path / "ours", compression=compression) as writer:
        for key, value in tb.PairReader(pairs, raw=True):
            writer.write_raw(len(key).to_bytes(4, "big") + key, len(value).to_bytes(4, "big") + value)
    assert hadoop().dump_pairs(tmp_path / "ours") == pairs


@pytest.mark.parametrize("kind", kinds())
def test_dumptb_of_every_kind(kind, tmp_path):
    (tmp_path / "f").write_bytes(files()[f"none/{kind}"])
    theirs = tb.Decoder(exact=True, pickle="raw").decode_pairs(hadoop().dump_pairs(tmp_path / "f"))
    ours = sequencefile.Reader(files()[f"none/{kind}"], decoders=DECODERS).read_typed(1 << 30)
    assert tb.Decoder(exact=True, pickle="raw").decode_pairs(ours) == theirs


@pytest.mark.parametrize("compression", ["none", "record", "block"])
@pytest.mark.parametrize("bloom", [False, True])
@pytest.mark.parametrize("nrecords", [0, 1, 3, 500])
def test_map_files(compression, bloom, nrecords, tmp_path):
    hadoop().write_map_file(tmp_path / "map", compression, bloom=bloom, nrecords=nrecords)
    expected = {f"key {2 * i:05}": i for i in range(nrecords)}
    with sequencefile.MapFile(tmp_path / "map") as file:
        for i in range(-1, 2 * nrecords + 2):
            key = f"key {i:05}"
            assert file.get(key) == expected.get(key)
            assert (key in file) == (key in expected)
        assert list(file) == list(expected.items()) == list(file)
        with pytest.raises(KeyError):
            file["no such key"]


def test_a_folder_of_map_files_is_the_input_that_it_is_to_hadoop(tmp_path):
    """And so is a folder inside an input with a SequenceFile `data` and no index.

    Of a MapFile that is itself an input Hadoop reads the index too.
    """
    for part, bloom in enumerate((False, True)):
        hadoop().write_map_file(tmp_path / "in" / f"part-r-{part:05}", "block", bloom=bloom, nrecords=10 + part)
    (tmp_path / "odd" / "inner").mkdir(parents=True)
    for name in ("data", "other"):
        shutil.copy(tmp_path / "in" / "part-r-00000" / "data", tmp_path / "odd" / "inner" / name)
    for path, nrecords, nhadoop in (
        (tmp_path / "in", 21, 21),
        (tmp_path / "odd", 10, 10),
        (tmp_path / "in" / "part-r-00000", 10, 11),
    ):
        job = hadoop().job(
            input=path, output=path.with_name(f"{path.name}-copied"), mapper="cat", nreducers=0,
            options=("-inputformat", SEQUENCE_FILE_INPUT),
        )  # fmt: skip
        assert job.counters["org.apache.hadoop.mapreduce.TaskCounter"]["MAP_INPUT_RECORDS"] == nhadoop
        assert sorted(sequencefile.read(path)) == sorted(
            (f"key {2 * i:05}", i) for n in ((10, 11) if nrecords == 21 else (10,)) for i in range(n)
        )


@pytest.mark.parametrize("codec", ["deflate.JdkDeflateCodec", "bzip2.BZip2Codec", "snappy.SnappyCodec", "lz4.Lz4Codec"])
@pytest.mark.parametrize("compression", ["record", "block"])
def test_codecs_of_aircompressor(codec, compression, tmp_path):
    hadoop().write_sequence_file(tmp_path / "f", compression, f"io.airlift.compress.{codec}", nrecords=50, nbytes=2000)
    _, records = hadoop().read_sequence_file(tmp_path / "f")
    assert [value.hex() for _, value in pairs_of(tmp_path / "f")] == [each["valueHex"][8:] for each in records]
    assert len(records) == 50
    with sequencefile.Writer(
        tmp_path / "ours", compression=compression, codec=f"io.airlift.compress.{codec}"
    ) as writer:
        writer.writes([("a", 1), ("b", 2)])
    assert len(hadoop().read_sequence_file(tmp_path / "ours")[1]) == 2


def test_objects_of_files_that_hadoop_wrote_live(tmp_path):
    hadoop().load_pairs(tb.Encoder().encode_pairs([("a", (1, 2.5)), (b"b", {"k": [True]})]), tmp_path / "f")
    assert pairs_of(tmp_path / "f") == [("a", (1, 2.5)), (b"b", {"k": [True]})]
    header, records = hadoop().read_sequence_file(tmp_path / "f")
    assert all(same(*each) for each in zip(("a", b"b"), (record["key"] for record in records)))
    assert header["compression"] == "record"


def test_what_hadoop_writes_to_a_stream_is_the_same(tmp_path):
    """A file object and a path give one story."""
    hadoop().write_sequence_file(tmp_path / "f", "block", "default", nrecords=1000, nbytes=50, sync_interval=1000)
    data = (tmp_path / "f").read_bytes()
    assert pairs_of(io.BytesIO(data)) == pairs_of(data) == pairs_of(tmp_path / "f")
