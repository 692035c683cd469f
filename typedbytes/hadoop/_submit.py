"""Run a job on the Hadoop installed here, and read its output.

Here: processes of Hadoop's commands. Not here: Hadoop's options, the format of its logs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace

from typedbytes._core import WrappedIterator
from typedbytes.hadoop._bundle import differences, versions_in
from typedbytes.hadoop._feed import with_feed
from typedbytes.hadoop._input_formats import find_format
from typedbytes.hadoop._installed import aggregates_logs, default_file_system, find_command, find_jar
from typedbytes.hadoop._job_log import JobLogParser
from typedbytes.hadoop._modules import calls, has_steps, is_importable, local_modules, roles, third_party
from typedbytes.hadoop._python_version import check_python
from typedbytes.hadoop._steps import jobs_of, removal, removals_of_output, steps_of
from typedbytes.hadoop._submit_errors import JobFailedError, SubmitError
from typedbytes.hadoop._task_report import summarize

__all__ = ["Done", "check", "command_of", "read_output", "submit"]

MAX_LINES = 40  # of a failing task's report, in an error message
LOGS_SECONDS = 60  # to wait for the logs of a failed job from YARN


@dataclass(frozen=True)
class Done:
    """The result of a job that has succeeded."""

    job_id: str | None  #: None if Hadoop printed none
    counters: dict  #: group -> name -> amount, as Hadoop prints them
    output: str


def check(plan, say=lambda line: None):
    """Return the plan with what its script and its inputs decide: files, reducers, combiner, format. Raises SubmitError for a job that cannot run.

    The modules beside the script are added to its files. `say` is called with a line for each requirement that only the nodes can meet.
    """
    plan = replace(plan, input_format=find_format(plan.input_format, plan.inputs, say))
    if "://" in plan.script:
        return with_feed(plan, say)
    if not os.path.isfile(plan.script):
        raise SubmitError(f"there is no script {plan.script}: give the file that ends with streaming.run(...)")
    if not calls(plan.script, "run"):
        say(f"{plan.script} does not call run(...): its tasks may succeed and write nothing")
    for path in [*plan.files, *plan.archives, *([plan.bundle] if plan.bundle else [])]:
        name = path.partition("#")[0]
        if "://" not in name and not os.path.exists(name):
            advice = f": make it with typedbytes bundle {name}" if path == plan.bundle else ""
            raise SubmitError(f"there is no file {name} to ship with the job{advice}")
    check_python(plan, say)
    inside = _modules_in(plan.bundle)
    files, others = local_modules(plan.script, inside)
    for path in [*files, *(path for path in plan.files if path.endswith(".py") and "://" not in path)]:
        if _module_of(path) in inside:
            _check_same(path, plan.bundle)
    files = [path for path in files if _module_of(path) not in inside]
    shipped = {_module_of(path) for path in plan.files}
    for name in sorted(set(third_party(others)) - shipped - inside):
        if not is_importable(name):
            raise SubmitError(
                f"{plan.script} imports {name}, which is neither beside it nor installed here: correct the name, ship the file with "
                "--ship, or put the package into the bundle with --module or --require"
            )
        say(f"the nodes must have the module {name}, or a bundle that holds it (--require {name})")
    return replace(with_feed(_with_roles(plan), say), files=[*plan.files, *(path for path in files if path not in plan.files)])


def _with_roles(plan):
    has = roles(plan.script)
    if has_steps(plan.script):
        steps = steps_of(plan)
        plan = replace(plan, steps=steps)
        has = {role: any(role in each for each in steps) for role in has}
        if plan.nreducers == 0:
            raise SubmitError(f"{plan.script} has steps, which need their reducers: leave out --reducers 0")
    for role, wanted in ("combine", plan.combiner), ("reduce", plan.nreducers):
        if wanted and has[role] is False:
            what, without = {"combine": ("combiner", "--no-combiner"), "reduce": ("reducer", "--reducers 0")}[role]
            raise SubmitError(f"{plan.script} has no {what}: give streaming.run(...) one, or run the job without ({without})")
    nreducers = int(has["reduce"] is not False) if plan.nreducers is None else plan.nreducers
    return replace(plan, nreducers=nreducers, combiner=bool(has["combine"]) if plan.combiner is None else plan.combiner)


def command_of(jar=None, environ=os.environ):
    """Return the words that start Hadoop Streaming. Raises SubmitError."""
    command = find_command("hadoop", environ)
    if jar is not None and not os.path.isfile(jar):
        raise SubmitError(f"there is no streaming jar {jar}: correct --streaming-jar, or leave it out to have Hadoop's own found")
    return [command, "jar", jar or find_jar(command, environ)]


def submit(plan, *, jar=None, say=lambda line: print(line, file=sys.stderr)):
    """Run a job and wait for its end; return Done. Raises SubmitError, and JobFailedError if the job fails.

    The Hadoop is that of HADOOP_HOME or PATH, and runs the job where its configuration (HADOOP_CONF_DIR) says. `say` is
    called with lines about the progress; `jar` is the path of the streaming jar, by default Hadoop's own.
    """
    jobs = jobs_of(check(plan, say))
    start = command_of(jar)
    return _submit(jobs[0], start, say) if len(jobs) == 1 else _submit_steps(jobs, start, say)


def _submit_steps(jobs, start, say):
    """Run the jobs of a job's steps, and remove what is between them."""
    between = [job.output for job in jobs[:-1]]
    counters: dict = {}
    try:
        for number, job in enumerate(jobs):
            say(f"step {number + 1} of {len(jobs)}")
            done = _submit(job, start, say)
            for group, amounts in done.counters.items():
                _add(counters.setdefault(group, {}), amounts)
            if number:
                for words in removals_of_output(job, between.pop(0)):
                    _run_shell(words, start, say)
    finally:
        if between:
            _run_shell(removal(jobs[0], between), start, say)
    return replace(done, counters=counters)


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
        say(f"hadoop {' '.join(words)} failed: {done.stdout.strip()}")


def _submit(plan, start, say):
    words = plan.words()
    _check_locale(words, os.environ)
    command = [*start, *words]
    log = JobLogParser(say)
    try:
        client = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
    except OSError as error:
        raise SubmitError(f"Hadoop's command {command[0]} does not start: {error.strerror}") from None
    with client:
        assert client.stdout is not None  # it is a pipe
        for line in client.stdout:
            log.parse_line(line)
    if client.returncode:
        raise _failure(log, client.returncode)
    return Done(log.job_id, log.counters, plan.output)


def _check_locale(words, environ):
    # Java decodes its arguments by the locale; Python uses UTF-8 even if the locale is C.
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or "C"
    strange = [word for word in words if not word.isascii()]
    if strange and locale in ("C", "POSIX"):
        raise SubmitError(f"Hadoop's Java cannot read {strange[0]!r} in the locale {locale}: export LC_ALL=C.UTF-8, or another with UTF-8")


def read_output(path, environ=os.environ):
    """Return an iterator of the pairs of a job's output, the SequenceFiles part-* of a folder.

    Local folders, and URLs that fsspec opens, are read directly; others are first copied to this machine by Hadoop.

    >>> from typedbytes import sequencefile
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with sequencefile.open(os.path.join(folder, "part-00000"), "w") as file:
    ...         file.write("a", 1)
    ...     list(read_output(folder))
    [('a', 1)]
    """
    scheme, colon, rest = path.partition(":")
    if not colon or "/" in scheme:
        return WrappedIterator(_pairs_of(path) if _paths_are_local(environ) else _fetch_pairs(path, environ))
    if scheme == "file":
        return WrappedIterator(_pairs_of("/" + rest.lstrip("/")))
    return WrappedIterator(_fetch_pairs(path, environ) if scheme == "hdfs" or not is_importable("fsspec") else _pairs_of(path))


def _paths_are_local(environ):
    """Return whether a path without a scheme is a local path for Hadoop too, or no Hadoop is installed."""
    found = default_file_system(environ)
    if found:
        return found.startswith("file:")
    try:
        find_command("hadoop", environ)
    except SubmitError:
        return True
    return False


def _pairs_of(path):
    from typedbytes import sequencefile
    from typedbytes.sequencefile import _locations

    for part in _locations.parts(path):
        if os.path.basename(part).startswith("part-"):
            yield from sequencefile.read(part)


def _fetch_pairs(path, environ):
    with tempfile.TemporaryDirectory() as folder:
        pattern = re.sub(r"([\\*?\[\]{}])", r"\\\1", path) + "/part-*"
        command = [find_command("hadoop", environ), "fs", "-get", pattern, folder]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise SubmitError(f"Hadoop could not copy the output {path} here: {done.stdout.strip()}")
        yield from _pairs_of(folder)


def _modules_in(path):
    if not path or "://" in path:
        return set()
    import zipfile

    versions_in(path)  # raises SubmitError for a file that is not a bundle
    with zipfile.ZipFile(path) as archive:
        parts = [name.split("/") for name in archive.namelist()]
    inside = {part[1] for part in parts if len(part) > 1 and part[0].startswith("cp")}
    return {name.partition(".")[0] for name in inside | {part[0] for part in parts}}


def _module_of(path):
    return os.path.basename(path).partition(".")[0]


def _check_same(path, bundle):
    # If a module is in the bundle and beside the script, tasks import the one in the bundle.
    names = differences(bundle, path)
    if names:
        raise SubmitError(
            f"the bundle {bundle} has another version of {names[0]} than {path}, which the tasks would import: make it again with "
            f"typedbytes bundle --module {path} {bundle}, or rename one"
        )


def _failure(log, code):
    if log.job_id and not log.report:
        for line in _aggregated_logs(log.job_id):
            log.parse_line(line)
    user_error, report = summarize(log.report)
    advice = log.advice()
    lines = [f"the job failed, Hadoop's command with code {code}", *(report[-MAX_LINES:] or log.errors()[-1:])]
    lines = [*([user_error] if user_error else []), *lines, *([f"what to do: {advice}"] if advice else [])]
    return JobFailedError("\n".join(lines), log.report, code)


def _aggregated_logs(job_id):
    """Return the stderr and syslog lines of a job's tasks from YARN, or an empty list."""
    if "local" in job_id or not aggregates_logs():
        return []
    application = job_id.replace("job_", "application_", 1)
    deadline = time.monotonic() + LOGS_SECONDS
    lines: list[str] = []
    while not lines and time.monotonic() < deadline:  # they are available only a while after the job's end
        try:
            command = [find_command("yarn"), "logs", "-applicationId", application, "-log_files", "stderr,syslog"]
            quiet = subprocess.DEVNULL
            done = subprocess.run(command, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet, timeout=LOGS_SECONDS)
        except (SubmitError, OSError, subprocess.TimeoutExpired):
            break
        lines = done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else []
    return lines
