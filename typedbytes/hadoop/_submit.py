"""Run a job on the Hadoop installed here.

Here: processes of Hadoop's commands. Not here: Hadoop's options, the format of its logs,
what is checked before a job starts.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from dataclasses import replace

from typedbytes._base.secrets import without_secret_values, without_secrets
from typedbytes.hadoop._check import check, check_words
from typedbytes.hadoop._job_log import JobLogParser
from typedbytes.hadoop._task_report import summarize
from typedbytes.hadoop.installed import aggregates_logs, find_command, find_jar
from typedbytes.hadoop.outputs import local_folder
from typedbytes.hadoop.steps import jobs_of, outputs_no_longer_needed, removal, removals_of_output, replacement
from typedbytes.jobs.errors import JobFailedError, OptionError, SubmitError
from typedbytes.jobs.history import StepHistory, bad_records_in, recorded
from typedbytes.jobs.messages import option_named
from typedbytes.jobs.result import Result
from typedbytes.jobs.signals import name_of

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typedbytes.hadoop._plan import Plan

__all__ = ["command_of", "submit"]

MAX_LINES = 40  # of a failing task's report, in an error message
ENDING_SECONDS = 5  # for Hadoop's client to end after a signal
LOGS_SECONDS = 60  # to wait for the logs of a failed job from YARN


def command_of(jar: str | None = None, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the words that start Hadoop Streaming. Raises SubmitError."""
    command = find_command("hadoop", environ)
    if jar is not None and not os.path.isfile(jar):
        raise OptionError(
            f"there is no streaming jar {jar}: correct "
            + option_named("jar")
            + ", or leave it out to have Hadoop's own found"
        )
    return [command, "jar", jar or find_jar(command, environ)]


def submit(
    plan: Plan,
    *,
    jar: str | None = None,
    say: Callable[[str], object] = lambda line: print(without_secrets(line), file=sys.stderr),
) -> Result:
    """Run a job and wait for its end; return a Result. Raises SubmitError, and JobFailedError if the job fails.

    The Hadoop is that of HADOOP_HOME or PATH, and runs the job where its configuration (HADOOP_CONF_DIR) says. `say` is
    called with lines about the progress; `jar` is the path of the streaming jar, by default Hadoop's own.
    """
    with recorded(plan, "Hadoop") as history:
        checked, moves = replacement(check(plan, say))
        jobs = jobs_of(checked)
        for job in jobs:
            check_words(job.words())
        start = command_of(jar)
        if len(jobs) == 1:
            done = _submit(jobs[0], start, say, history)
        else:
            done = _submit_steps(jobs, start, say, history)
        if not all(_run_shell(words, start, say) for words in moves):
            raise SubmitError(
                f"the job has succeeded, but its output could not be moved from {checked.output} to {plan.output}",
                hint=f"hadoop fs -mv {checked.output} {plan.output}",
            )
        if plan.report:
            history.bad_records = bad_records_in(local_folder(plan.output) or "")
        return replace(done, output=plan.output) if moves else done


def _submit_steps(jobs, start, say, history):
    """Run the jobs of a job's steps, and remove what is between them."""
    between = [job.output for job in jobs[:-1]]
    removing: list[list[str]] = []
    counters: dict = {}
    steps = []
    try:
        for number, job in enumerate(jobs):
            say(f"step {number + 1} of {len(jobs)}")
            done = _submit(job, start, say, history)
            steps.append(done)
            for group, amounts in done.counters.items():
                _add(counters.setdefault(group, {}), amounts)
            done_with = outputs_no_longer_needed(jobs, number)
            removing = [words for path in done_with for words in removals_of_output(job, path)]
            between = [path for path in between if path not in done_with]
            for words in removing:
                _run_shell(words, start, say)
            removing = []
    except Exception:
        if between:
            _run_shell(removal(jobs[0], between), start, say)
        _say_what_is_left(removing, say)
        raise
    except BaseException:  # a signal: the job may go on and need what is between its steps
        _say_what_is_left([*removing, *([removal(jobs[0], between)] if between else [])], say)
        raise
    totals = {"nreducers": sum(step.nreducers or 0 for step in steps), "seconds": sum(step.seconds for step in steps)}
    return replace(done, counters=counters, steps=tuple(steps), **totals)


def _say_what_is_left(removals, say):
    if removals:
        commands = "; ".join(shlex.join(["hadoop", *without_secret_values(words)]) for words in removals)
        say(f"what is between its steps is left; to remove it: {commands}")


def _add(amounts, more):
    for name, amount in more.items():
        amounts[name] = amount + amounts.get(name, 0) if isinstance(amount, int) else amount


def _run_shell(words, start, say):
    done = subprocess.run(
        [start[0], *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        say(f"hadoop {shlex.join(without_secret_values(words))} failed: {done.stdout.strip()}")
    return not done.returncode


def _submit(plan, start, say, history):
    command = [*start, *plan.words()]
    log = JobLogParser(say)
    begin = time.monotonic()
    nreducers, _ = plan.asked_reducers
    step = StepHistory(plan.name or history.name, [], None, 1 if nreducers is None else nreducers, time.time())
    history.steps.append(step)
    try:
        client = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise SubmitError(f"Hadoop's command {command[0]} does not start: {error.strerror}") from None
    with client:
        assert client.stdout is not None  # standard output is a pipe
        try:
            for line in client.stdout:
                log.parse_line(line)
        except BaseException:  # a signal, as a rule
            _end(client)
            if log.job_id and "local" not in log.job_id:
                say(f"the job goes on; to end it: mapred job -kill {log.job_id}")
            raise
    step.tasks, step.counters, step.end = log.tasks, log.counters, time.time()
    step.nbytes_written = log.counters.get("File Output Format Counters", {}).get("Bytes Written")
    if client.returncode:
        log.fail_tasks()
        _fetch_task_logs(log)
        raise _failure(log, client.returncode)
    return Result(
        plan.output, log.counters, nreducers=plan.nreducers, seconds=time.monotonic() - begin, job_id=log.job_id
    )


def _end(client):
    client.terminate()
    try:
        client.wait(ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        client.kill()


def _failure(log, code):
    user_error, report = summarize(log.report)
    advice = log.advice()
    lines = [f"the job failed: Hadoop's command {_outcome(code)}", *(report[-MAX_LINES:] or log.errors()[-1:])]
    lines = [*([user_error] if user_error else []), *lines, *([f"what to do: {advice}"] if advice else [])]
    return JobFailedError("\n".join(lines), log.report, code)


def _outcome(code):
    return f"was ended by {name_of(-code)}" if code < 0 else f"ended with exit code {code}"


def _fetch_task_logs(log):
    """Parse what YARN has of a failed job's tasks, if its client has printed none of their reports.

    May take twice LOGS_SECONDS.
    """
    if log.job_id and not log.report:
        for line in _aggregated_logs(log.job_id):
            log.parse_line(line)


def _aggregated_logs(job_id):
    """Return the stderr and syslog lines of a job's tasks from YARN, or an empty list."""
    if "local" in job_id or not aggregates_logs():
        return []
    application = job_id.replace("job_", "application_", 1)
    deadline = time.monotonic() + LOGS_SECONDS
    lines: list[str] = []
    while not lines and time.monotonic() < deadline:  # YARN aggregates logs some time after the job's end
        try:
            command = [find_command("yarn"), "logs", "-applicationId", application, "-log_files", "stderr,syslog"]
            quiet = subprocess.DEVNULL
            done = subprocess.run(command, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet, timeout=LOGS_SECONDS)
        except (SubmitError, OSError, subprocess.TimeoutExpired):
            break
        lines = done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else []
    return lines
