"""Jobs submitted as a user does: the command ``typedbytes submit`` with a real Hadoop in local mode.

Here: what runs a job, and what users meet when they do something wrong. What needs no Hadoop is in test_submit.py.
Invariant: the tasks of these jobs run on a bare Python that has only the bundle.
"""

import pytest

import typedbytes as tb
from support.hadoop_home import QUICK
from support.portable_jobs import JOBS, lay_out
from support.report_page import read_page

pytestmark = [pytest.mark.hadoop, pytest.mark.every_hadoop]


def test_a_job_with_a_bundle_on_a_bare_python(tmp_path, submit):
    (tmp_path / "in.txt").write_text("b a\nb\n")
    (tmp_path / "helper.py").write_text("def words(line):\n    return line.split()\n")
    (tmp_path / "it's.py").write_text(
        "import sys\n"
        "import helper\n"
        "from typedbytes import streaming\n"
        "def mapper(offset, line):\n"
        "    streaming.counter('python', 'has other packages', sum('site-packages' in name for name in sys.path[:3]))\n"
        "    with_bundle = 'typedbytes-bundle' in streaming.__file__\n"
        "    return [(word, (1, with_bundle)) for word in helper.words(line)]\n"
        "def reducer(word, counts):\n"
        "    counts = list(counts)\n"
        "    yield word, (sum(count for count, _ in counts), all(bundled for _, bundled in counts))\n"
        "streaming.run(mapper, reducer, combiner=reducer)\n"
    )
    words = ("-o", "out", "--reducers", "2", "--combiner", "--read", "--feed", "pairs", *QUICK)
    output, messages = submit("it's.py", "in.txt", *words)
    assert sorted(tb.PairReader(output)) == [("a", (1, True)), ("b", (2, True))]
    assert "typedbytes submit: map 100 %, reduce 100 %" in messages.splitlines()
    assert "typedbytes submit: python: has other packages: 0" in messages.splitlines()
    assert "typedbytes submit: Map-Reduce Framework: Map input records: 2" in messages.splitlines()
    assert (tmp_path / "out" / "_SUCCESS").exists()


def test_a_job_of_two_steps(tmp_path, submit):
    (tmp_path / "in.txt").write_text("b a\nb c\n")
    (tmp_path / "job.py").write_text(
        "from typedbytes.streaming import Step, lib, run, task\n"
        "times = int(task().params['times'])\n"
        "def words(offset, line):\n"
        "    return [(word, times) for word in line.split()]\n"
        "def by_count(word, count):\n"
        "    yield count, word\n"
        "def listed(count, words):\n"
        "    yield count, sorted(words)\n"
        "run(steps=[Step(words, lib.sumreducer, lib.sumreducer), Step(by_count, listed)])\n"
    )
    output, messages = submit(
        "job.py", "in.txt", "-o", "out", "--reducers", "2", "--param", "times=3", "--read", *QUICK
    )
    assert sorted(tb.PairReader(output)) == [(3, ["a", "c"]), (6, ["b"])]
    assert [line for line in messages.splitlines() if " of 2" in line] == [
        "typedbytes submit: step 1 of 2",
        "typedbytes submit: step 2 of 2",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "job.py", "out"]


def test_why_a_task_failed_is_shown(tmp_path, submit):
    (tmp_path / "in.txt").write_text("b a\n")
    (tmp_path / "job.py").write_text("from typedbytes import streaming\nstreaming.run(lambda offset, line: 1 / 0)\n")
    output, messages = submit("job.py", "in.txt", "-o", "out", "--reducers", "0", *QUICK, code=1)
    lines = messages.splitlines()
    assert "typedbytes submit: task failed: user code failed (exit code 1)" in lines
    assert "typedbytes submit: ZeroDivisionError: division by zero" in lines
    assert any(line.startswith("typedbytes submit: input file: file:") and line.endswith("/in.txt") for line in lines)


@pytest.mark.parametrize("name", JOBS)
def test_jobs_that_run_everywhere(tmp_path, submit, name):
    job = lay_out(tmp_path, name)
    output, _ = submit(
        f"{name}.py", "in.txt", "-o", "out", "--reducers", "2", "--read", *job.options, *job.submit_options, *QUICK
    )
    assert sorted(tb.PairReader(output)) == job.output
    others = [line for path in sorted((tmp_path / "out").glob("others-*")) for line in path.read_text().splitlines()]
    assert others == job.side_output


def test_the_report_of_a_job(tmp_path, submit):
    (tmp_path / "in.txt").write_text("b a b\n<b>bad\n")
    (tmp_path / "job.py").write_text(
        "from typedbytes import streaming\n"
        "from typedbytes.streaming import lib\n"
        "def mapper(offset, line):\n"
        "    if 'bad' in line:\n"
        "        raise ValueError(line)\n"
        "    return [(word, 1) for word in line.split()]\n"
        "streaming.run(mapper, lib.sumreducer, lib.sumreducer, max_bad=1)\n"
    )
    words = ["job.py", "in.txt", "-o", "out", "--reducers", "2", "--report", "job.html", *QUICK]
    submit(*words)
    page = read_page(tmp_path / "job.html")
    head = page.sections[""]
    assert head[head.index("records read") + 1] == "2" and head[head.index("records written") + 1] == "2"
    assert page.bars("map") == 1 and page.bars("reduce") == 2 + 2
    assert any(text.startswith(f"file:{tmp_path}/in.txt, bytes 0 to 13") for text in page.sections["Slowest tasks"])
    assert page.sections["Bad records"][-2:] == ["6", "'<b>bad'"]
    assert "BadRecords" in page.sections["Counters"]
    (tmp_path / "in.txt").write_text("bad\nbad\n")
    submit(*words, "--overwrite", code=1)
    page = read_page(tmp_path / "job.html")
    assert page.texts("title")[0] == "job.py: failed"
    _, first, more = page.sections["What failed"]
    assert first.startswith("ValueError: bad (") and "\nattempt: attempt_local" in more
    assert page.bars("failed") == 1 and "it did not end" in page.sections["Slowest tasks"]


def test_a_command_in_the_current_folder_is_shipped_and_found(tmp_path, submit):
    (tmp_path / "words.sh").write_text("#!/bin/sh\ntr ' ' '\\n'\n")
    (tmp_path / "words.sh").chmod(0o755)
    (tmp_path / "in").write_text("to be\nor to\n")
    submit("--mapper", "words.sh", "--reducer", "uniq -c", "in", "-o", "out")
    lines = (tmp_path / "out" / "part-00000").read_text().splitlines()
    assert [line.split() for line in lines] == [["1", "be"], ["1", "or"], ["2", "to"]]
