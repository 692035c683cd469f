"""A job on YARN: a resource and a node manager, an application master, a map and a reduce task in containers.

Here: one job, submitted as a user does; ``make cluster`` runs more of them, on three nodes and HDFS. Invariant: its
tasks run on a bare Python that has only the bundle.
"""

import contextlib

import pytest

from support.hadoop_cluster import Cluster
from support.hadoop_support import ROOT, jars

pytestmark = pytest.mark.hadoop


def test_word_count_on_yarn(tmp_path):
    (tmp_path / "in.txt").write_text("b a\nb ü b\n", "utf-8")
    words = (tmp_path / "in.txt", "--combiner", "--read")
    jars.build_with_maven(jars.SPLITS, tmp_path / "plug-in", "-DskipTests")
    plug_in = tmp_path / "plug-in" / "typedbytes-hadoop.jar"
    whole = ("--feed", "splits", "--feed-jar", plug_in)
    with contextlib.closing(Cluster(tmp_path)) as cluster:
        pairs, said = cluster.submit(
            ROOT / "examples" / "wordcount.py", *words, "-o", tmp_path / "out", "--feed", "pairs"
        )
        by_splits, said_of_splits = cluster.submit(
            ROOT / "examples" / "wordcount.py", *words, "-o", tmp_path / "by-splits", *whole
        )
    assert pairs == by_splits == [("a", 1), ("b", 3), ("ü", 1)]
    assert "typedbytes submit: typedbytes: MapInputRecords: 2" in said_of_splits
    assert "typedbytes submit: wordcount: words: 5" in said
    assert "typedbytes submit: Job Counters: Launched reduce tasks: 1" in said
    assert "job_local" not in said
    assert (tmp_path / "out" / "_SUCCESS").exists()
