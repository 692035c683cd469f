"""The report of a job: a page that holds what its tasks did, or why they failed, and no markup of anyone else's."""

import os
import subprocess
import sys

import pytest

import typedbytes as tb
from support.local_jobs import TASK_COUNTERS, WORD_COUNT, pairs_of, parts_of, run, write_script, write_words
from support.report_page import Page, read_page
from support.streaming_support import environment
from typedbytes import local
from typedbytes.jobs.history import JobHistory, StepHistory, TaskHistory
from typedbytes.jobs.report import page_of

EVIL = "<b onload=x>&amp;\"'\x1b[31m\u202e"

BAD_RECORDS = """
    from typedbytes import streaming

    def mapper(offset, line):
        if "<b" in line:
            raise ValueError(line)
        streaming.counter("<b>group", "a & b", 3)
        yield line, 1

    if __name__ == "__main__":
        streaming.run(mapper, max_bad=5)
"""


def hot(key, value):
    """A mapper with one key that has most of the values."""
    yield from [("hot", value)] * 5
    yield key, value


def count(key, values):
    yield key, sum(1 for _ in values)


def test_a_job_is_described(tmp_path):
    words = write_words(tmp_path / "in.txt", 3000)
    total = sum(words.values())
    script = write_script(tmp_path, WORD_COUNT)
    result = run(
        script, tmp_path / "in.txt", tmp_path / "out", reducers=3, split_size=6000, report=tmp_path / "job.html"
    )
    page = read_page(tmp_path / "job.html")
    assert page.texts("title")[0] == "job.py: done"
    assert page.legend == {"map", "combine", "reduce"}
    assert page.bars("map") == page.bars("combine") == result.nmaps > 2
    assert page.bars("reduce") == 3 + 3  # over time, and the bytes of each
    nlines = len((tmp_path / "in.txt").read_text().splitlines())
    combined = result.counters[TASK_COUNTERS]["COMBINE_OUTPUT_RECORDS"]
    stages = page.sections["Stages"]
    for title, *row in (("records in", nlines, total, combined), ("records out", total, combined, len(words))):
        place = stages.index(title)
        assert stages[place + 1 : place + 4] == [f"{number:,}" for number in row]
    assert f"{combined / total:.3g}" in stages  # of the combiner
    nbytes = sum(path.stat().st_size for path in (tmp_path / "out").glob("part-*"))
    assert f"{nbytes / 1024:.3g} KiB" in stages
    assert [text for text in page.sections["Slowest tasks"] if text.startswith(f"{tmp_path}/in.txt, bytes ")]
    titles = ["Stages", "Tasks over time", "Bytes of each reduce task", "Slowest tasks", "Counters"]
    assert [*page.sections][1:6] == titles


def test_no_text_becomes_markup(tmp_path):
    (tmp_path / "<b>.txt").write_text(f"{EVIL}\na\n")
    script = write_script(tmp_path, BAD_RECORDS, name="<b>job&.py")
    run(script, tmp_path / "<b>.txt", tmp_path / "<out>", report=tmp_path / "job.html")
    page = read_page(tmp_path / "job.html")
    assert page.texts("h1") == ["<b>job&.py"]
    assert page.sections["Bad records"][-3:] == ["bad-records-m-00000", "0", repr(EVIL)]
    assert {"<b>group", "a & b", "3"} <= set(page.sections["Counters"])
    text = (tmp_path / "job.html").read_text()
    assert "\x1b" not in text and "\u202e" not in text

    failing = write_script(tmp_path, BAD_RECORDS.replace("max_bad=5", "max_bad=0"), name="failing.py")
    with pytest.raises(local.JobError):
        run(failing, tmp_path / "<b>.txt", tmp_path / "none", report=tmp_path / "failed.html")
    assert "<b onload=x>&amp;\"'" in "".join(read_page(tmp_path / "failed.html").sections["What failed"])
    assert "\x1b" not in (tmp_path / "failed.html").read_text()


def test_skew_of_a_job_with_200_tasks(tmp_path):
    for number in range(160):
        pairs = [(each, f"{number:03}") for each in range(100)]
        (tmp_path / f"{number:03}.tb").write_bytes(tb.Encoder().encode_pairs(pairs))
    result = local.run(
        hot, count, inputs=tmp_path / "*.tb", output=tmp_path / "out", reducers=40, inline=True, quiet=True,
        report=tmp_path / "job.html",
    )  # fmt: skip
    page = read_page(tmp_path / "job.html")
    assert (result.nmaps, page.bars("map"), page.bars("reduce")) == (160, 160, 80)
    (largest,) = (n for n, part in enumerate(parts_of(tmp_path / "out")) if tb.dumps("hot") in dict(part))
    nbytes = [0] * 40  # that each reducer got: equal pairs of a key and a value of its group
    for number, part in enumerate(parts_of(tmp_path / "out")):
        for key, value in part:
            nbytes[number] += tb.loads(value) * (len(key) + len(tb.dumps("000")))
    assert nbytes[largest] == max(nbytes)
    usual = sorted(nbytes)[19:21]
    times = f"{max(nbytes) / (sum(usual) / 2):.1f}"
    said = "".join(page.sections["Bytes of each reduce task"])
    assert f"reduce {largest} has got the most" in said and f": {times} times the median of " in said


def test_a_job_that_fails_says_what_failed(tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    script = write_script(
        tmp_path,
        """
        from typedbytes import streaming

        def mapper(key, value):
            yield key, value

        def reducer(key, values):
            raise KeyError("as asked")

        if __name__ == "__main__":
            streaming.run(mapper, reducer)
        """,
    )
    with pytest.raises(local.JobError) as caught:
        run(script, tmp_path / "in.txt", tmp_path / "out", attempts=2, report=tmp_path / "job.html")
    page = read_page(tmp_path / "job.html")
    assert page.texts("title")[0] == "job.py: failed"
    failed = page.sections["What failed"]
    assert failed[1] == str(caught.value) and "KeyError: 'as asked'" in failed[2]
    assert page.legend == {"map", "failed"} and page.bars("failed") == 2
    assert "reduce 0, attempt 1" in page.sections["Slowest tasks"]
    assert not (tmp_path / "out").exists()


def test_each_step_has_a_part(tmp_path):
    (tmp_path / "in.txt").write_text("a\nb\n")
    script = write_script(
        tmp_path,
        """
        from typedbytes import streaming
        from typedbytes.streaming import Step, lib

        if __name__ == "__main__":
            one = Step(lambda key, value: [(value, 1)], lib.sumreducer)
            streaming.run(steps=[one, Step(lambda key, value: [(key, value), (key, value)])])
        """,
    )
    result = run(script, tmp_path / "in.txt", tmp_path / "out", report=tmp_path / "job.html")
    page = read_page(tmp_path / "job.html")
    assert page.texts("h2") == ["job.py, step 1 of 2", "job.py, step 2 of 2"]
    assert (result.records_in, result.records_out) == (2, 4)
    head = page.sections[""]
    assert head[head.index("records read") + 1] == "2" and head[head.index("records written") + 1] == "4"


def test_a_result_has_plain_numbers_and_a_table(tmp_path):
    (tmp_path / "in.txt").write_text("a\n<b>\nc\n")
    script = write_script(tmp_path, BAD_RECORDS)
    result = run(script, tmp_path / "in.txt", tmp_path / "<out>")
    assert (result.records_in, result.records_out, result.bad_records) == (3, 2, 1)
    assert result.task_counters["MAP_INPUT_RECORDS"] == 3
    table = result._repr_html_()
    assert f"<td>{tmp_path}/&lt;out&gt;</td>" in table
    assert "<tr><th>records written</th><td>2</td></tr>" in table


def test_a_page_of_many_tasks_stays_small():
    tasks = [
        TaskHistory(kind, number, "", 0, 1e9 + number, 1e9 + number + 1 + (number == 7), 100 + number)
        for kind, ntasks in (("map", 5_000), ("reduce", 2_500))
        for number in range(ntasks)
    ]
    step = StepHistory("many", tasks, 5_000, 2_500, 1e9, 1e9 + 60_000)
    text = page_of(JobHistory("many", "Spark", "out", [], 1e9, 1e9 + 60_000, [step]))
    page = Page(text)
    assert page.bars("map") + page.bars("reduce") == 2000 + 2000 and len(text) < 2 << 20
    assert "The 2,000 longest of 7,500 tasks." in page.texts("small")
    assert "map 7" in page.sections["Slowest tasks"]


def test_a_job_that_has_not_begun_has_a_page():
    page = Page(page_of(JobHistory("none", "Hadoop", "out", [], 1e9, 1e9, failure="there is no job\nat all")))
    assert page.sections["What failed"][:3] == ["What failed", "there is no job", "at all"]


@pytest.mark.parametrize(
    ("path", "said"), [("none/job.html", "there is no folder .*none for the report"), (".", "is a folder")]
)
def test_a_report_that_cannot_be_is_refused_before_the_job(tmp_path, path, said):
    script = write_script(tmp_path, "raise SystemExit('started')")
    with pytest.raises(local.OptionError, match=said):
        run(script, tmp_path / "in.txt", tmp_path / "out", report=tmp_path / path)


def test_a_report_that_cannot_be_written_changes_nothing_of_the_job(tmp_path, capfd):
    folder = tmp_path / "reports"
    folder.mkdir()

    def mapper(key, value):
        if folder.exists():
            folder.rmdir()
        yield key, value

    local.run(mapper, inputs=[(1, 2)], output=tmp_path / "out", inline=True, report=folder / "job.html")
    assert pairs_of(tmp_path / "out") == [(1, 2)]
    said = f"typedbytes: the report {folder}/job.html cannot be written: No such file or directory"
    assert said in capfd.readouterr().err


def test_a_report_is_a_file_of_this_machine(tmp_path):
    with pytest.raises(
        local.OptionError, match="the report is a file of this machine, not a URL such as s3://b/r.html"
    ):
        local.run("cat", inputs=[(1, 2)], output=tmp_path / "out", report="s3://b/r.html")
    assert not (tmp_path / "out").exists()


def test_the_command_is_repeated_without_secrets(tmp_path):
    (tmp_path / "in.txt").write_text("b a b\n")
    write_script(tmp_path, WORD_COUNT)
    options = [
        "--env",
        "AWS_SECRET_ACCESS_KEY=hunter2",
        "-Dfs.s3a.secret.key=hunter2",
        "--env=X=ftp://me:hunter2@host/",
        "-Dfs.azure.account.key.me.blob.core.windows.net=hunter2",
        "--param",
        "api_key=hunter2",
        "--param=access_key=hunter2",
        "--arg=--password",
        "-Dmapreduce.partition.keypartitioner.options=-k1",
    ]
    words = ["run", "job.py", "in.txt", "-o", "out", *options, "--report", "job.html", "--param", "a=b c"]
    subprocess.run([sys.executable, "-m", "typedbytes", *words], cwd=tmp_path, env=environment(), check=True)
    page = read_page(tmp_path / "job.html")
    _, command, _ = page.sections["The command that repeats it"]
    shown = "--env 'AWS_SECRET_ACCESS_KEY=***' '-Dfs.s3a.secret.key=***' --env=X=ftp://***@host/"
    shown += " '-Dfs.azure.account.key.me.blob.core.windows.net=***' --param 'api_key=***' '--param=access_key=***'"
    shown += " --arg=--password -Dmapreduce.partition.keypartitioner.options=-k1"
    assert command == (
        f"cd {os.path.realpath(tmp_path)}\n"
        f"typedbytes run job.py in.txt -o out {shown} --report job.html --param 'a=b c'"
    )
    assert "hunter2" not in (tmp_path / "job.html").read_text()
    words[words.index("job.html")] = "no/job.html"
    done = subprocess.run(
        [sys.executable, "-m", "typedbytes", *words, "--overwrite"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
    )
    assert done.returncode == 64 and b"there is no folder" in done.stderr


def test_a_report_in_the_place_of_another_file_of_the_job(tmp_path):
    script, path = write_script(tmp_path, WORD_COUNT), tmp_path / "in.txt"
    path.write_text("a line\n")
    (tmp_path / "link").symlink_to(path)
    for report in (path, script, tmp_path / "out", tmp_path / "link"):
        with pytest.raises(local.OptionError, match="is another file of the job too: give it a path of its own"):
            run(script, path, tmp_path / "out", report=report)
    assert path.read_text() == "a line\n" and not (tmp_path / "out").exists()


def test_a_named_pipe_is_written_to_and_stays(tmp_path):
    script, pipe = write_script(tmp_path, WORD_COUNT), tmp_path / "pipe"
    (tmp_path / "in.txt").write_text("a line\n")
    os.mkfifo(pipe)
    with subprocess.Popen(["timeout", "60", "cat", pipe], stdout=subprocess.PIPE) as reader:
        run(script, tmp_path / "in.txt", tmp_path / "out", report=pipe)
        assert reader.stdout.read().startswith(b"<!DOCTYPE html>")
    assert pipe.is_fifo()
