"""What Hadoop says of a job: progress, counters, failures and the advice to them.

Invariant: what Hadoop said in these tests was recorded from Hadoop 3.4.2 and its Java.
"""

import pytest

from support.submit_calls import FAILURE, LOG
from typedbytes.hadoop._job_log import ADVICE, JobLogParser
from typedbytes.hadoop._task_report import summarize


def parsed(text):
    said = []
    log = JobLogParser(said.append)
    for line in text.splitlines(keepends=True):
        log.parse_line(line)
    return log, said


def test_progress_and_counters():
    log, said = parsed(LOG)
    assert said == ["job job_local1234_0001", "map 0 %, reduce 0 %", "map 100 %, reduce 0 %", "map 100 %, reduce 100 %"]
    assert log.counters == {
        "File System Counters": {"FILE: Number of bytes read": 1234},
        "words = all": {"seen = x": 5, "lost": -1},
    }
    assert log.report == [] and log.advice() is None


def test_an_error_without_a_line_of_the_users_code_is_reported():
    """As YARN gives the log of a task whose traceback has frames of this package alone."""
    lines = ["typedbytes: task failed: user code failed (exit code 1)", "typedbytes: input read: 1 records, 42 bytes"]
    error = "typedbytes.jobs.errors.SubmitError: there is no Hadoop here"
    log, _ = parsed("\n".join([*lines, error, "", "End of LogType:stderr", "java.io.IOException: closed"]))
    assert log.report == [*lines, error]


TASKS = """\
x INFO mapred.LocalJobRunner: Starting task: attempt_local12_0001_m_000000_0
x INFO mapred.MapTask: Processing split: file:/data/in.txt:100+28
x INFO mapreduce.Job:  map 0% reduce 0%
x INFO mapred.LocalJobRunner: Finishing task: attempt_local12_0001_m_000000_0
x INFO mapred.LocalJobRunner: Starting task: attempt_local12_0001_m_000001_0
x INFO mapred.MapTask: Processing split: org.example.Split@12ab
x INFO mapred.LocalJobRunner: Finishing task: attempt_local12_0001_m_000001_0
x INFO mapred.LocalJobRunner: Starting task: attempt_local12_0001_r_000000_0
x INFO mapred.Merger: Down to the last merge-pass, with 1 segments left of total size: 54 bytes
x INFO mapreduce.Job:  map 100% reduce 0%
"""


def test_the_tasks_of_hadoops_local_mode():
    log, _ = parsed(TASKS)
    first, second, third = log.tasks
    assert (first.kind, first.number, first.nbytes, first.source) == (
        "map",
        0,
        28,
        "file:/data/in.txt, bytes 100 to 128",
    )
    assert (second.kind, second.number, second.nbytes, second.source) == ("map", 1, None, "")
    assert (third.kind, third.number, third.nbytes, third.end) == ("reduce", 0, 54, 0.0)
    assert first.start <= first.end <= second.start <= second.end <= third.start
    log.fail_tasks()
    assert [bool(task.failure) for task in log.tasks] == [False, False, True] and third.end


def test_a_cluster_says_only_when_all_tasks_of_a_kind_run():
    log, _ = parsed(LOG + "x INFO mapreduce.Job: Counters: 1\n\tFile Input Format Counters \n\t\tBytes Read=21\n")
    first, second = log.tasks
    assert (first.nbytes, second.nbytes) == (21, None)
    assert [(task.kind, task.number) for task in log.tasks] == [("map", None), ("reduce", None)]
    assert 0 < first.start <= first.end <= second.end and second.start <= second.end


def test_the_url_of_a_job_and_failed_attempts_are_reported():
    _, said = parsed(
        "x INFO mapreduce.Job: The url to track the job: http://host:8088/proxy/application_1_0002/\n"
        "x INFO mapreduce.Job: Task Id : attempt_1_0002_m_000000_0, Status : FAILED\n"
    )
    assert said[0] == "The url to track the job: http://host:8088/proxy/application_1_0002/"
    assert said[1] == "Task Id : attempt_1_0002_m_000000_0, Status : FAILED"


def test_the_report_of_a_failed_task_has_its_own_lines_only():
    log, _ = parsed(LOG + FAILURE + LOG + FAILURE)
    assert log.report[: len(FAILURE.splitlines()) - 2] == FAILURE.splitlines()[:-2]
    assert not [line for line in log.report if "java" in line or "LocalJobRunner" in line]


NODE = "/data/nm-local-dir/usercache/me/appcache/application_1_0002/container_e01_1_0002_01_000003"


PYTHON_FAILURE = f"""\
typedbytes: task failed: user code failed (exit code 1)
typedbytes: attempt: attempt_1_0002_m_000000_ATTEMPT
typedbytes: key: 'b' (070000000162)
Traceback (most recent call last):
  File "{NODE}/typedbytes-bundle/typedbytes/streaming/_run.py", line 294, in _process
    pairs = process(key, value)
            ^^^^^^^^^^^^^^^^^^^
  File "{NODE}/./job.py", line 5, in mapper
    yield helper.parsed(value), ATTEMPT
  File "/data/nm-local-dir/usercache/me/filecache/12/helper.py", line 3, in parsed
    return json.loads(value)
  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
"""


def test_a_failure_on_yarn_starts_with_the_users_own_line():
    log, _ = parsed("".join(PYTHON_FAILURE.replace("ATTEMPT", str(attempt)) + LOG for attempt in range(4)))
    own, lines = summarize(log.report)
    assert own == (
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0) (helper.py, line 3: "
        "return json.loads(value))"
    )
    assert lines[:3] == [
        "task failed: user code failed (exit code 1)",
        "attempt: attempt_1_0002_m_000000_3",
        "key: 'b' (070000000162)",
    ]
    assert [line for line in lines if "File" in line] == [
        '  File "typedbytes-bundle/typedbytes/streaming/_run.py", line 294, in _process',
        '  File "job.py", line 5, in mapper',
        '  File "helper.py", line 3, in parsed',
        '  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads',
    ]
    assert len(lines) == len(PYTHON_FAILURE.splitlines())


def test_a_failure_without_a_line_of_the_user_is_shown_as_it_is():
    text = "".join(
        line for line in PYTHON_FAILURE.splitlines(keepends=True) if "job.py" not in line and "helper.py" not in line
    )
    assert summarize(parsed(text)[0].report)[0] is None
    assert summarize([]) == (None, [])
    started = [
        "Traceback (most recent call last):",
        f'  File "{NODE}/job.py", line 1, in <module>',
        "    import numpy",
        "ModuleNotFoundError: numpy",
    ]
    again = [
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        "Traceback (most recent call last):",
        "OSError: x",
    ]
    assert summarize(started * 2) == (
        "ModuleNotFoundError: numpy (job.py, line 1: import numpy)",
        [started[0], '  File "job.py", line 1, in <module>', *started[2:]],
    )
    assert len(summarize(started * 2 + again)[1]) == len(started + again)


SAID = {
    "Output directory file:/x/out already exists": "give another --output",
    "Input path does not exist: file:/x/in": "the input does not exist",
    "ERROR: JAVA_HOME is not set and could not be found.": "export JAVA_HOME",
    "java.lang.UnsupportedClassVersionError: org/apache/hadoop/x has been compiled by a more recent version": (
        "the Java is too old"
    ),
    "java.lang.UnsupportedOperationException: getSubject is not supported": "the Java is too new",
    "java.lang.reflect.InaccessibleObjectException: Unable to make": "the Java is too new",
    'java.io.IOException: Cannot run program "/x/python3": error=2, No such file or directory': (
        "the nodes have no program /x/python3: give"
    ),
    "ModuleNotFoundError: No module named 'typedbytes._core'": "another version of Python",
    "ModuleNotFoundError: No module named 'typedbytes'": "without --no-bundle",
    "ModuleNotFoundError: No module named 'numpy'": "the nodes have no module numpy: ship",
    "usage: job.py map|combine|reduce": "streaming.run",
    "ImportError: /lib64/libc.so.6: version `GLIBC_2.34' not found": "--platform",
    "Caused by: java.io.IOException: file:/x/in.txt not a SequenceFile": (
        "file:/x/in.txt is not a SequenceFile: read its lines"
    ),
    "Caused by: java.io.EOFException\n\tat java.io.DataInputStream.readFully(x)\n"
    "\tat org.apache.hadoop.io.SequenceFile$Reader.init(x)": "--repair GOOD",
    "LimitExceededException: Too many counters: 121 max=120": "120 counters",
    "java.net.ConnectException: Call From x to y failed on connection exception: Connection refused": "does not answer",
    "org.apache.hadoop.security.AccessControlException: Permission denied: user=x, access=WRITE": (
        "access denied by the cluster"
    ),
    "SafeModeException: Cannot create file. Name node is in safe mode.": "starting up",
    "Container is running beyond physical memory limits": "more memory",
}


@pytest.mark.parametrize("line", SAID, ids=lambda line: line[:40])
def test_each_known_failure_has_its_advice(line):
    assert SAID[line] in parsed(line)[0].advice()


@pytest.mark.parametrize(
    "line, start",
    [
        (
            "ModuleNotFoundError: No module named 'typedbytes_helpers'",
            "the nodes have no module typedbytes_helpers: ship",
        ),
        ("ConnectionRefusedError: [Errno 111] Connection refused", None),  # a database refuses the task
    ],
)
def test_a_failure_that_looks_like_another_does_not_get_its_advice(line, start):
    advice = parsed(f"Traceback (most recent call last):\n{line}")[0].advice()
    assert advice is None if start is None else advice.startswith(start)


def test_errors_that_java_logs_are_reported():
    log, _ = parsed(
        "INFO: Binding org.apache.hadoop.yarn.webapp.GenericExceptionHandler to GuiceManagedComponentProvider\n"
        "2026-01-02 03:04:05,678 ERROR [main] streaming.PipeMapRed: configuration exception\n"
        "java.lang.RuntimeException: Error in configuring object\n"
        "\tat org.apache.hadoop.util.ReflectionUtils.setJobConf(ReflectionUtils.java:113)\n"
        "Caused by: java.io.FileNotFoundException: /x (Permission denied)\n"
        "\t... 17 more\n"
        "2026-01-02 03:04:05,999 ERROR [main] streaming.StreamJob: Job not successful!\n"
    )
    assert [line[:40] for line in log.errors()] == [
        "2026-01-02 03:04:05,678 ERROR [main] str",
        "java.lang.RuntimeException: Error in con",
        "Caused by: java.io.FileNotFoundException",
    ]


def test_every_advice_is_tested():
    given = {parsed(line)[0].advice() for line in SAID}
    assert len(given) == len(ADVICE)
