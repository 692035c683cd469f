"""Hadoop's properties for a job on this machine: followed, reported, or without effect, as Hadoop shows.

Hadoop lists its properties in its defaults files, in its table of old names, and in the constants of the
classes that a job uses: each of them must be known here, so that a property of the next Hadoop makes a test
fail until it is looked at.
"""

import bz2
import functools
import gzip
import re
import subprocess
import zipfile
import zlib
from xml.etree import ElementTree

import pytest

from support.hadoop_support import SEQUENCE_FILE_OUTPUT, hadoop, jars, python_command
from support.local_jobs import RUN, WORD_COUNT, run, write_script
from support.streaming_support import environment
from typedbytes import local
from typedbytes.jobs.hadoop_properties import FOLLOWED, OLD_NAMES, REPORTED
from typedbytes.jobs.properties import STREAMING_OPTION_OF

SEPARATOR = "mapreduce.output.textoutputformat.separator"
COMPRESS = "mapreduce.output.fileoutputformat.compress"
CODECS = "org.apache.hadoop.io.compress."

#: Of the properties in Hadoop's defaults files, those that change how a job runs, where and how fast, which users may
#: see it, or whether it fails: not what it reads and writes when it succeeds.
WITHOUT_EFFECT = re.compile(
    r"yarn\..*|security\..*|(?!fs\.default)(hadoop|fs|ipc|ha|net|file|ftp|dfs|tfile|rpc|adl|seq|nfs)\..*"
    r"|io\.(file|bytes|erasurecode|seqfile|mapfile|map\.index|serializations|compression\.codec)\b.*"
    r"|map\.sort\.class|mapred\.child\.java\.opts"
    r"|mapreduce\.(jobhistory|shuffle|cluster|client|am|ifile|jvm|framework|application|app-submission"
    r"|outputcommitter)\b.*"
    r"|mapreduce\.fileoutputcommitter\.(algorithm\.version|task\.cleanup\.enabled)"
    r"|mapreduce\.(map|reduce)\.(maxattempts|memory\.mb|cpu\.vcores|log\.level|speculative|node-label-expression)"
    r"|mapreduce\.map\.(sort\.spill\.percent|output\.compress(\.codec)?)"
    r"|mapreduce\.(map|reduce)\.skip\.proc-count\.auto-incr|mapreduce\.task\.skip\.start\.attempts"
    r"|mapreduce\.job\.skip\.outdir"
    r"|mapreduce\.reduce\.(shuffle|merge|input\.buffer|markreset)\..*"
    r"|mapreduce\.task\.(io\.sort|profile|timeout|stuck|ping-for|exit\.timeout|userlog|files\.preserve|spill\.files"
    r"|local-fs|merge|combine)\b.*"
    r"|mapreduce\.job\.(hdfs-servers|committer|local-fs|dfs|running|max|reducer|split|maxtaskfailures|ubertask"
    r"|emit-timeline-data|sharedcache|queuename|tags|acl|finish-when|token|reduce|complete|node-label|am"
    r"|end-notification|log4j|classloader|heap|encrypted|cache\.limit|redacted|send-token|speculative"
    r"|map\.output\.collector)\b.*"
    r"|mapreduce\.input\.(fileinputformat\.list-status\.num-threads|lineinputformat\.linespermap)"
)  # fmt: skip

#: Of Streaming's own: what it sets itself whatever -D says, what belongs to formats that a job here cannot have,
#: and what changes no result.
STREAMING_WITHOUT_EFFECT = re.compile(
    r"stream\.(map|reduce)\.(input\.writer|output\.reader)\.class|stream\.(map|reduce|combine)\.streamprocessor"
    r"|stream\.(map|reduce)\.(input|output)\.field\.separator|stream\.map\.input\.ignoreKey"
    r"|stream\.num\.(map|reduce)\.output\.key\.fields"
    r"|stream\.recordreader(\..*)?|stream\.(shipped\.hadoopstreaming|tmpdir|joindelay\.milli|minRecWrittenToEnableSkip)"
)
#: The classes of the formats that jobs here have, and their properties that only other formats
#: or the newer API look at.
FORMATS = (
    r"org/apache/hadoop/mapred(uce/lib/(in|out)put)?/"
    r"(FileInput|TextInput|SequenceFileInput|FileOutput|TextOutput|SequenceFileOutput)Format\.class"
)
FORMATS_WITHOUT_EFFECT = re.compile(
    r"mapreduce\.(input\.fileinputformat\.(numinputfiles|split\.maxsize)|output\.fileoutputformat\.outputdir)"
)

pytestmark = pytest.mark.hadoop


def _is_known(name):
    return name in REPORTED or name in FOLLOWED or name in OLD_NAMES or name in STREAMING_OPTION_OF


@functools.cache
def _defaults():
    """Return the values of the properties in Hadoop's defaults files, by name."""
    found = {}
    for path in jars.hadoop_jars().glob("*.jar"):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if re.fullmatch(r"(core|hdfs|mapred|yarn)-default\.xml", name):
                    for each in ElementTree.fromstring(archive.read(name)).iter("property"):
                        found[each.findtext("name").strip()] = (each.findtext("value") or "").strip()
    return found


def _constants(classes, pattern):
    """Return the names of properties in Hadoop's classes: a class file has its strings as they are."""
    found = set()
    for path in jars.hadoop_jars().glob("hadoop-*.jar"):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if re.fullmatch(classes, name):
                    found.update(each.decode().rstrip("._") for each in re.findall(pattern, archive.read(name)))
    return found


def test_every_property_in_hadoops_defaults_files_is_known():
    defaults = _defaults()
    assert len(defaults) > 1000 and "mapreduce.job.reduces" in defaults
    assert [name for name in defaults if not _is_known(name) and not WITHOUT_EFFECT.fullmatch(name)] == []
    assert [name for name in defaults if _is_known(name) and WITHOUT_EFFECT.fullmatch(name)] == []


def test_what_is_reported_is_not_so_with_hadoops_own_value():
    own = {name: value for name, value in _defaults().items() if name in REPORTED and value}
    assert len(own) >= 5
    assert {name: REPORTED[name][1] for name in own} == own


def test_every_property_of_streaming_and_of_the_formats_is_known():
    names = _constants(r"org/apache/hadoop/streaming/.*\.class", rb"\bstream\.[a-z][A-Za-z_.]*[A-Za-z_]")
    assert len(names) > 20 and "stream.non.zero.exit.is.failure" in names
    assert [
        name for name in sorted(names) if not _is_known(name) and not STREAMING_WITHOUT_EFFECT.fullmatch(name)
    ] == []
    names = _constants(FORMATS, rb"\b(?:mapreduce\.(?:in|out)put|textinputformat)\.[A-Za-z.]+")
    assert {"textinputformat.record.delimiter", SEPARATOR, COMPRESS, "mapreduce.output.basename"} <= names
    assert [name for name in sorted(names) if not _is_known(name) and not FORMATS_WITHOUT_EFFECT.fullmatch(name)] == []


def test_the_old_names_are_those_of_hadoop():
    done = subprocess.run(
        jars.java_command("org.apache.hadoop.mapreduce.util.ConfigUtil"), capture_output=True, text=True, check=True
    )
    table = dict(line.split("\t")[:2] for line in done.stdout.splitlines() if "\t" in line)
    assert len(table) > 100
    assert {old: new for old, new in table.items() if new in REPORTED or new in FOLLOWED} == OLD_NAMES


# -- beside Hadoop

TEXT = "a rose\tis a rose\nis\ta rose\nis a rose\n"
LAST_AS_TEXT = {f"stream.{side}": "typedbytes" for side in ("map.input", "map.output", "reduce.input")} | {
    "stream.reduce.output": "text"
}
OPENED = {"": bytes, ".deflate": zlib.decompress, ".gz": gzip.decompress, ".bz2": bz2.decompress}


def _texts(folder):
    """Return the text of each part file, by its name."""
    return {path.name: OPENED[path.suffix](path.read_bytes()) for path in folder.glob("[!._]*")}


@pytest.mark.parametrize(
    "properties",
    [
        {SEPARATOR: ","},
        {SEPARATOR: ""},  # as if it were not given
        {SEPARATOR: " "},
        {"mapred.textoutputformat.separator": ":="},
        {COMPRESS: "true"},
        {COMPRESS: "true", f"{COMPRESS}.codec": f"{CODECS}GzipCodec", SEPARATOR: ";"},
        {"mapred.output.compress": "True", "mapred.output.compression.codec": f"{CODECS}BZip2Codec"},
        {COMPRESS: "false", f"{COMPRESS}.codec": f"{CODECS}GzipCodec"},
    ],
)
def test_text_is_joined_and_compressed_as_in_hadoop(tmp_path, properties):
    (tmp_path / "in.txt").write_text(TEXT)
    script = write_script(tmp_path, WORD_COUNT.replace("line.split()", 'line.split(" ")'))  # keys with a TAB among them
    job = hadoop().job(
        input=tmp_path / "in.txt", output=tmp_path / "hadoop", mapper=python_command(script, "map"),
        reducer=python_command(script, "reduce"), nreducers=2, io=None, properties={**LAST_AS_TEXT, **properties},
        options=("-inputformat", "org.apache.hadoop.mapred.TextInputFormat"),
    )  # fmt: skip
    assert job.code == 0, job.log
    run(script, tmp_path / "in.txt", tmp_path / "local", reducers=2, output_format="text", properties=properties)
    theirs = _texts(tmp_path / "hadoop")
    assert _texts(tmp_path / "local") == theirs and len(theirs) == 2 and all(theirs.values())


@pytest.mark.parametrize("kind", ["RECORD", "BLOCK", "NONE", None])
def test_sequence_files_are_compressed_as_in_hadoop(tmp_path, kind):
    (tmp_path / "in.txt").write_text(TEXT)
    script = write_script(tmp_path, WORD_COUNT)
    properties = {
        COMPRESS: "true",
        f"{COMPRESS}.codec": f"{CODECS}BZip2Codec",
        **({f"{COMPRESS}.type": kind} if kind else {}),
    }
    job = hadoop().job(
        input=tmp_path / "in.txt", output=tmp_path / "hadoop", mapper=python_command(script, "map"),
        reducer=python_command(script, "reduce"), properties=properties,
        options=("-outputformat", SEQUENCE_FILE_OUTPUT),
    )  # fmt: skip
    assert job.code == 0, job.log
    run(script, tmp_path / "in.txt", tmp_path / "local", properties=properties)
    (header, records), (theirs, expected) = (
        hadoop().read_sequence_file(tmp_path / each / "part-00000") for each in ("local", "hadoop")
    )
    assert records == expected and len(records) == 3
    assert {**header, "sync": None} == {**theirs, "sync": None}


def test_a_long_line_has_one_separator(tmp_path):
    """However the pipe cuts it."""
    (tmp_path / "in.txt").write_text("a\n")
    script = write_script(
        tmp_path,
        'from typedbytes import streaming; streaming.run(lambda key, line: [("k" * 300_000, "v\\t" * 300_000), '
        '("k", "\\tv")])',
    )
    run(script, tmp_path / "in.txt", tmp_path / "out", output_format="text", properties={SEPARATOR: "=>"})
    assert (tmp_path / "out" / "part-00000").read_text() == "k" * 300_000 + "=>" + "v\t" * 300_000 + "\nk=>\tv\n"


@pytest.mark.parametrize(
    ("output_format", "codec", "said"),
    [
        ("text", f"{CODECS}SnappyCodec",
         "text is written by run with one of the codecs DefaultCodec, .*, not .*SnappyCodec"),
        ("sequencefile", "com.example.NoCodec", "cannot be compressed as its properties say: unknown codec"),
    ],
)  # fmt: skip
def test_a_codec_that_cannot_be_followed_is_refused(tmp_path, output_format, codec, said):
    properties = {COMPRESS: "true", f"{COMPRESS}.codec": codec}
    with pytest.raises(ValueError, match=said):
        local.run("cat", inputs=[(1, 2)], output=tmp_path / "out", output_format=output_format, properties=properties)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "in.txt").write_text("a\n")
    step = "streaming.Step(lambda *pair: [open('ran', 'w') and pair], lambda key, values: [(key, 1)])"
    script = write_script(tmp_path, f"from typedbytes import streaming; streaming.run(steps=[{step}, {step}])")
    with pytest.raises(ValueError, match=said):
        run(script, tmp_path / "in.txt", tmp_path / "out", output_format=output_format, properties=properties)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "job.py"]


def test_a_variable_wins_over_a_property_of_its_name_as_in_hadoop(tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    script = write_script(
        tmp_path,
        'import os; from typedbytes import streaming; streaming.run(lambda key, line: [(os.environ["my_limit"], '
        'os.environ["my_name"])])',
    )
    properties = {"my.limit": "property", "my.name": "property"}
    job = hadoop().job(
        input=tmp_path / "in.txt", output=tmp_path / "hadoop", mapper=python_command(script, "map"), nreducers=0,
        properties=properties, options=("-cmdenv", "my_limit=variable"),
    )  # fmt: skip
    assert job.code == 0, job.log
    run(
        script, tmp_path / "in.txt", tmp_path / "local", properties=properties, environ={"my_limit": "variable"},
        output_format="text",
    )  # fmt: skip
    assert (tmp_path / "hadoop" / "part-00000").read_text() == "variable\tproperty\n"
    assert (tmp_path / "local" / "part-00000").read_text() == "variable\tproperty\n"


PLAIN = {"part-00000": b"a|b\t1\nlong line\t1\n", "_SUCCESS": b""}


@pytest.mark.parametrize(
    ("name", "value", "changes"),
    [
        ("textinputformat.record.delimiter", "|", True),
        ("mapreduce.input.linerecordreader.line.maxlength", "4", True),
        ("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false", True),
        ("mapreduce.input.fileinputformat.inputdir", "/nowhere", True),
        ("mapred.input.dir", "/nowhere", True),
        ("mapreduce.job.partitioner.class", "org.apache.hadoop.mapreduce.lib.partition.HashPartitioner", True),
        ("mapreduce.job.map.class", "org.apache.hadoop.mapreduce.Mapper", True),
        ("mapred.mapper.new-api", "true", True),
        ("mapreduce.output.basename", "x", False),  # in jobs of the newer API alone
    ],
)
def test_what_is_reported_changes_the_result_of_hadoop(tmp_path, name, value, changes):
    (tmp_path / "in.txt").write_text("a|b\nlong line\n")
    script = write_script(
        tmp_path,
        "from typedbytes import streaming; streaming.run(lambda key, line: [(line, 1)], lambda key, "
        "values: [(key, 1)])",
    )
    job = hadoop().job(
        input=tmp_path / "in.txt", output=tmp_path / "hadoop", mapper=python_command(script, "map"),
        reducer=python_command(script, "reduce"), properties={name: value}
    )  # fmt: skip
    found = {path.name: path.read_bytes() for path in (tmp_path / "hadoop").glob("[!.]*")}
    assert (job.code != 0 or found != PLAIN) == changes, job.log
    words = ["--output-format", "text", "-D", f"{name}={value}"]
    command = [*RUN, script, tmp_path / "in.txt", "-o", tmp_path / "out", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert done.returncode == 0 and f"typedbytes run: -D {name} has no effect here: " in done.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == PLAIN
