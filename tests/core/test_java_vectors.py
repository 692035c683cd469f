"""Values that we encode, read by Hadoop's own classes in a running Java virtual machine.

The recorded vectors in test_vectors/foreign/hadoop say the same for a few hundred values; here thousands of values, new
ones with every run, meet ``readRaw``, ``read``, ``write``, ``hashCode`` and the partitioner.
"""

import functools
import itertools
import json

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import typedbytes as tb
from support import strategies
from support.hadoop_support import ROOT, hadoop, jars
from support.java_view import bits_only, digits_by_value, java_view, one_nan

needs_hadoop = pytest.mark.hadoop

HADOOP_VECTORS = ROOT / "test_vectors" / "foreign" / "hadoop"

many = settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])

#: Keys that Java's read() takes in one MAP: it keeps a MAP in a tree, so they are of one class that Java can order. NaN
#: is left out since it is many keys to Python and one to Java.
ordered_keys = [
    st.integers(-(2**31), 2**31 - 1), st.integers(2**31, 2**63 - 1), st.floats(allow_nan=False), strategies.texts,
    strategies.binaries, st.booleans(),
]  # fmt: skip

#: What read() takes and java_view can describe: of pickles only None, whose bytes are known.
readable = st.recursive(
    st.one_of(strategies.plain_scalars, strategies.widths, strategies.exts, strategies.writables, st.none()),
    lambda items: st.one_of(
        st.lists(items, max_size=5),
        st.lists(items, max_size=5).map(tuple),
        *(st.dictionaries(keys, items, max_size=4) for keys in ordered_keys),
    ),
    max_leaves=12,
)


def streams(values):
    return st.lists(values, min_size=1, max_size=20)


@needs_hadoop
@many
@given(streams(strategies.values))
def test_java_copies_our_values_and_partitions_our_keys(values):
    encoded = [tb.dumps(value) for value in values]
    data = b"".join(encoded)
    assert hadoop().raw(data) == data
    for key, placed in itertools.zip_longest(encoded, hadoop().partitions(data)):
        assert tb.hash_code(key) == placed["hashCode"]
        for npartitions, partition in placed["partition"].items():
            assert tb.partition(key, int(npartitions)) == partition


@needs_hadoop
@many
@given(streams(readable))
def test_java_reads_our_values_and_we_read_what_it_writes(values):
    data = tb.Encoder().encode_all(values)
    views = [java_view(value) for value in values]
    assert [bits_only(tagged) for tagged in hadoop().json(data)] == views
    written = tb.Decoder(exact=True, pickle="raw").decode_all(hadoop().rewrite(data))
    assert [java_view(value) for value in written] == [one_nan(view) for view in views]


@needs_hadoop
def test_recorded_vectors_are_what_java_writes_today():
    recorded = (HADOOP_VECTORS / "golden.jsonl").read_bytes()
    assert steady_parts(hadoop().golden()) == steady_parts(recorded)


def steady_parts(lines):
    """Return of each vector what no version of Java changes: floats by value, and not the message of an exception."""
    names = ("kind", "source", "hex", "read", "readRaw", "readType", "rewrite", "hashCode", "partition")
    vectors = map(functools.partial(json.loads, object_hook=without_message), digits_by_value(lines).splitlines())
    return [[vector[name] for name in names] for vector in vectors]


def without_message(member):
    return {name: value for name, value in member.items() if name != "message"}


@pytest.fixture
def installed_jdks(monkeypatch, tmp_path):
    """Return a function that leaves this machine only the JDKs of these versions, and nothing else on PATH."""

    def install(*versions):
        for version in versions:
            javac = tmp_path / f"jvm/java-{version}-openjdk/bin/javac"
            javac.parent.mkdir(parents=True)
            javac.write_text(f"#!/bin/sh\necho javac {version}.0.1\n")
            javac.chmod(0o755)

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(jars, "INSTALLED_JDKS", [str(tmp_path / "jvm/*").lstrip("/")])
    jars._java_home.cache_clear()
    yield install
    jars._java_home.cache_clear()


def test_without_java_the_error_says_what_to_install(installed_jdks):
    with pytest.raises(jars.MissingToolError, match="No JDK was found(?s:.*)apt-get install openjdk-17-jdk-headless"):
        jars.java_home()


def test_the_newest_jdk_that_hadoop_runs_on_is_found(installed_jdks, tmp_path, monkeypatch):
    installed_jdks(8, 11, 17, 21, 25)
    assert jars.java_home() == tmp_path / "jvm/java-21-openjdk"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jvm/java-11-openjdk"))
    assert jars.java_home() == tmp_path / "jvm/java-11-openjdk"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jvm/java-25-openjdk"))
    assert jars.java_home() == tmp_path / "jvm/java-21-openjdk"


def test_a_java_that_hadoop_does_not_run_with_is_named(installed_jdks):
    installed_jdks(8, 25)
    with pytest.raises(
        jars.MissingToolError,
        match="Hadoop does not run with the Java(?s:.*)java-25-openjdk: version 25\n(?s:.*): version 8\n",
    ):
        jars.java_home()


@needs_hadoop
def test_without_maven_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(jars, "BUILD", tmp_path / "build")
    with pytest.raises(jars.MissingToolError, match="mvn was not found(?s:.*)apt-get install maven"):
        jars.class_path()
