"""SequenceFiles that Hadoop wrote, of every class, codec and compression, read to the bit and written again."""

import io
import re

import pytest

import typedbytes as tb
from support.java_view import in_order
from support.sequencefiles import CODECS, FORMS, IO, files, header, kinds, record, same
from support.small_sequencefiles import DECODERS
from typedbytes import sequencefile

pytestmark = pytest.mark.lowest

NAMES = [name for name in files() if name.split("/")[0] in FORMS]


def opened(name, **options):
    """Return a reader of a vector."""
    return sequencefile.Reader(files()[name], **options)


# What has no form in Python, by key: an array of a class of its own inside an ObjectWritable, of which it is not known
# where it ends; a map with the keys 1 and true.
STAYS = ("array", "one and true")


def test_the_vectors_are_the_whole_matrix():
    assert {(name.split("/")[0], name.split("/")[1]) for name in NAMES} == {
        (form, kind) for form in FORMS for kind in kinds()
    }
    assert len(CODECS) == 7 and len(kinds()) == 13


@pytest.mark.parametrize("name", NAMES)
def test_bytes_of_keys_and_values(name):
    form, kind = name.split("/")
    expected = kinds()[kind]
    reader = opened(name, raw=True)
    found = [(key.hex(), value.hex()) for key, value in reader]
    assert found == [(each["keyHex"], each["valueHex"]) for each in expected["records"]]
    assert (reader.key_class, reader.value_class) == (expected["keyClass"], expected["valueClass"])
    assert reader.compression == (form.split("-") * 2)[1 if form != "none" else 0]
    assert (reader.codec is None) == (form == "none")
    assert (reader.version, reader.metadata, reader.skipped) == (6, {}, [])
    assert reader.record == len(found)
    assert reader.offset == len(files()[name])


@pytest.mark.parametrize("name", NAMES)
def test_objects(name):
    expected = kinds()[name.split("/")[1]]["records"]
    found = opened(name, decoders=DECODERS).read_all()
    assert len(found) == len(expected)
    for (key, value), each in zip(found, expected):
        assert same(key, each["key"]), (key, each["key"])
        if type(value) is tb.Writable and each["key"]["string"] in STAYS:
            assert value.data.hex() == each["valueHex"]
        else:
            assert same(value, each["value"]), (value, each["value"])


@pytest.mark.parametrize("name", NAMES)
def test_typed_bytes(name):
    expected = kinds()[name.split("/")[1]]["records"]
    reader, found = opened(name, decoders=DECODERS), b""
    while part := reader.read_typed(1):
        found += part
    pairs = tb.Decoder(exact=True, pickle="raw").decode_pairs(found)
    wanted = tb.Decoder(exact=True, pickle="raw").decode_pairs(
        bytes.fromhex("".join(each["typedHex"] for each in expected))
    )
    assert in_order(map(bits, pairs)) == in_order(map(bits, wanted))
    if "map" not in name:  # whose entries Java's hashing puts in order
        assert found.hex() == "".join(each["typedHex"] for each in expected)


def bits(value):
    """Format a value so that the order of MAPs does not count."""
    if isinstance(value, dict):
        return in_order([bits(key), bits(item)] for key, item in value.items())
    return [bits(item) for item in value] if isinstance(value, (tuple, list)) else repr(value)


def test_a_class_that_is_not_known_comes_as_its_bytes():
    ((_, value),) = opened("none/md5-array")
    name = "org.typedbytes.vectors.TextArray"
    assert value == tb.Writable(name, bytes.fromhex(kinds()["md5-array"]["records"][0]["valueHex"]))


@pytest.mark.parametrize("name", NAMES)
def test_single_keys_and_values(name):
    reader = opened(name, raw=True)
    whole = opened(name).read_all()
    decoded = [
        (sequencefile.decode(reader.key_class, key), sequencefile.decode(reader.value_class, value))
        for key, value in reader
    ]
    assert repr(decoded) == repr(whole)


@pytest.mark.parametrize("kind", kinds())
def test_simple_kinds_are_encoded_as_hadoop_does(kind):
    expected = kinds()[kind]
    for (key, value), each in zip(opened(f"none/{kind}", exact=True).read_all(), expected["records"]):
        assert sequencefile.encode(expected["keyClass"], key).hex() == each["keyHex"]
        if not re.search("map|object|primitives", kind):
            assert sequencefile.encode(expected["valueClass"], value).hex() == each["valueHex"]


@pytest.mark.parametrize("name", [name for name in files() if "lzo" not in name])
def test_written_again_it_is_the_same_file(name):
    """Not compressed, to the byte; compressed by another library, what is in it."""
    reader = opened(name, raw=True)
    sink = io.BytesIO()
    options = {"sync_interval": 100} if name.startswith("marker") else {}
    with sequencefile.Writer(
        sink, key_class=reader.key_class, value_class=reader.value_class, compression=reader.compression,
        codec=reader.codec or "default", metadata=reader.metadata, sync_marker=reader.sync_marker, **options,
    ) as writer:  # fmt: skip
        for key, value in reader:
            writer.write_raw(key, value)
        assert writer.record == reader.record
    if reader.compression == "none":
        assert sink.getvalue() == files()[name]
    assert header_of(sink.getvalue()) == header_of(files()[name])
    assert list(sequencefile.Reader(sink.getvalue(), raw=True)) == list(opened(name, raw=True))


def header_of(data):
    reader = sequencefile.Reader(data)
    return data[: reader.offset]


@pytest.mark.parametrize("form", ["none", "record", "block"])
def test_no_record(form):
    assert opened(f"empty/{form}").read_all() == []
    assert opened(f"empty/{form}").read_typed() == b""


@pytest.mark.parametrize("form", ["none", "record", "block"])
def test_metadata(form):
    assert opened(f"metadata/{form}").metadata == {"name": "value", "": "empty name", "€": ""}


def test_a_marker_in_the_data_is_data():
    data = files()["marker-in-data/none"]
    reader = sequencefile.Reader(data)
    pairs = reader.read_all()
    assert [key for key, _ in pairs] == list(range(6))
    assert all(value[10 + key : 26 + key] == reader.sync_marker for key, value in pairs)
    # Splits meet at every offset: a marker without its escape is not where one starts.
    for start in range(len(data)):
        first = sequencefile.Reader(data, length=start).read_all()
        assert first + sequencefile.Reader(data, start=start).read_all() == pairs


@pytest.mark.parametrize("version", [4, 5, 6])
@pytest.mark.parametrize("form", ["none", "default-record", "default-block"])
def test_versions(version, form):
    """Hadoop writes version 6 only; the older ones differ in the header alone."""
    data = files()[f"{form}/text-int"]
    codec = "org.apache.hadoop.io.compress.DefaultCodec"
    parts = {"compressed": form != "none", "blocks": "block" in form, "codec": codec}
    marker = opened(f"{form}/text-int").sync_marker
    newest = header(f"{IO}Text", f"{IO}IntWritable", marker=marker, **parts)
    assert data.startswith(newest)
    start = header(f"{IO}Text", f"{IO}IntWritable", version=version, marker=marker, **parts)
    reader = sequencefile.Reader(start + data[len(newest) :])
    assert reader.read_all() == opened(f"{form}/text-int").read_all()
    assert reader.version == version
    assert reader.codec == (codec if form != "none" else None)
    sink = io.BytesIO()
    with sequencefile.Writer(
        sink,
        key_class="Text",
        value_class="IntWritable",
        compression=reader.compression,
        version=version,
        sync_marker=marker,
    ):
        pass
    assert sink.getvalue() == start


def test_a_record_of_no_bytes():
    data = header(f"{IO}NullWritable", f"{IO}NullWritable") + record(b"", b"") * 3
    assert sequencefile.Reader(data).read_all() == [(None, None)] * 3
    assert opened("none/null-null").read_all() == [(None, None)] * 2


@pytest.mark.parametrize("name", sorted(files()))
def test_typed_bytes_of_hadoops_files_become_the_same_records(name):
    """Through read_typed and write_typed, whatever the classes, except maps, whose typed bytes have no classes."""
    reader = sequencefile.Reader(files()[name])
    classes = {"key_class": reader.key_class, "value_class": reader.value_class}
    typed = reader.read_typed(1 << 30)
    expected = sequencefile.Reader(files()[name], raw=True).read_all()
    for compression in sequencefile._native.COMPRESSIONS:
        sink = io.BytesIO()
        with sequencefile.Writer(sink, compression=compression, **classes) as writer:
            if "map" in "".join(classes.values()).lower():
                with pytest.raises(tb.EncodeError, match="unknown class"):
                    writer.write_typed(typed)
                continue
            assert writer.write_typed(typed) == len(expected)
        assert sequencefile.Reader(sink.getvalue(), raw=True).read_all() == expected


CONVERSIONS = [
    ("IntWritable", 7, b"\0\0\0\7"),
    ("IntWritable", tb.Long(-7), b"\xff\xff\xff\xf9"),
    ("LongWritable", 7, b"\0\0\0\0\0\0\0\7"),
    ("ShortWritable", 258, b"\1\2"),
    ("ByteWritable", -1, b"\xff"),
    ("VIntWritable", tb.Byte(5), b"\5"),
    ("VLongWritable", 1 << 40, b"\x8a\1\0\0\0\0\0"),
    ("DoubleWritable", tb.Float(0.5), b"\x3f\xe0\0\0\0\0\0\0"),
    ("FloatWritable", 0.5, b"\x3f\0\0\0"),
    ("BooleanWritable", True, b"\1"),
    ("Text", "h\xe9", b"\3h\xc3\xa9"),
    ("BytesWritable", b"ab", b"\0\0\0\2ab"),
    ("NullWritable", None, b""),
    ("org.apache.hadoop.typedbytes.TypedBytesWritable", [1], b"\0\0\0\7\x08\3\0\0\0\1\xff"),
]


@pytest.mark.parametrize("class_name, value, expected", CONVERSIONS, ids=[each[0] for each in CONVERSIONS])
def test_values_of_typed_bytes_become_writables(class_name, value, expected):
    """As DataOutputStream writes them; the widths of numbers are those of the class."""
    sink = io.BytesIO()
    with sequencefile.Writer(sink, key_class="NullWritable", value_class=class_name) as writer:
        writer.write_typed(tb.Encoder().encode_pairs([(None, value)]))
    ((_, data),) = sequencefile.Reader(sink.getvalue(), raw=True)
    assert data == (expected if class_name[:3] != "org" else b"\0\0\0\7\x09\3\0\0\0\1\xff"[:4] + tb.dumps([1]))
