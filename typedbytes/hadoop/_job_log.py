"""Parse the log that Hadoop's client prints while a job runs: progress, counters, errors.

Here: parsing that log line by line. Not here: how the job was started. Invariant: no line makes
the parser fail; unknown lines are ignored.
"""

import re
import time

from typedbytes.jobs.history import TaskHistory

#: (pattern of a message of Hadoop or Python, what to do), the more specific ones first; {} is the pattern's group.
ADVICE = [
    (
        r"Output directory \S+ already exists",
        "the output folder exists already: give another --output, or remove it with hadoop fs -rm -r",
    ),
    (
        r"Input (?:path|Pattern)\b.* (?:does not exist|matches 0 files)",
        "the input does not exist: look with hadoop fs -ls; a path without a scheme is one of fs.defaultFS",
    ),
    (
        r"JAVA_HOME is (?:not set|incorrectly set)",
        "Hadoop cannot find Java: export JAVA_HOME=..., the folder with bin/java",
    ),
    (
        r"UnsupportedClassVersionError",
        "the Java is too old for this Hadoop: export a JAVA_HOME with the version that it was built for",
    ),
    (
        r"getSubject is (?:not supported|supported only if)",
        "the Java is too new for this Hadoop, which needs version 22 or older: export JAVA_HOME=... of a Java 11 or 17",
    ),
    (
        r"InaccessibleObjectException|does not \"opens java\.base\"",
        "the Java is too new for this Hadoop: export JAVA_HOME=... of a Java 8 or 11",
    ),
    (
        r"Cannot run program \"([^\"]+)\".*No such file",
        "the nodes have no program {}: give the full path of their Python with --python",
    ),
    (
        r"No module named '?typedbytes\._",
        "the nodes run another version of Python than the bundle was made for: name one with --python, or have a "
        "bundle made for theirs with --python-version",
    ),
    (
        r"No module named '?typedbytes\b",
        "the nodes have no typedbytes: submit without --no-bundle, or install it there",
    ),
    (
        r"No module named '?([\w.]+)",
        "the nodes have no module {}: ship a file with --ship, "
        "or put a package into the bundle with --module or --require",
    ),
    (
        r"usage: \S+ map\|combine\|reduce",
        "the script must end with streaming.run(mapper, reducer), and have a combiner if --combiner is given",
    ),
    (
        r"GLIBC_\d|GLIBCXX_\d",
        "the nodes' system is older than the one that the bundle was made on: "
        "have one made of wheels for manylinux with --platform",
    ),
    (
        r"(\S+) not a SequenceFile",
        "{} is not a SequenceFile: read its lines with --input-format text, "
        "or make one of pairs with typedbytes loadtb",
    ),
    (
        r"(?:EOF|Checksum)Exception.*\n(?:\s+at .*\n){,12}?\s+at org\.apache\.hadoop\.io\.SequenceFile\$Reader",
        "an input file is damaged: typedbytes validate FILE says where, "
        "and with --repair GOOD it saves the intact records",
    ),
    (
        r"Too many counters",
        "Hadoop allows 120 counters in total: use fewer names",
    ),
    (
        r"ConnectException: .*Connection refused|UnknownHostException|NoRouteToHost",
        "the cluster does not answer: check fs.defaultFS and yarn.resourcemanager.address in HADOOP_CONF_DIR",
    ),
    (
        r"AccessControlException|Permission denied: user=",
        "access denied by the cluster: log in (kinit), or choose an --output folder that you may write to",
    ),
    (
        r"SafeModeException|is in safe mode",
        "the file system is starting up: wait until hdfs dfsadmin -safemode get says OFF",
    ),
    (
        r"running beyond (?:physical|virtual) memory|OutOfMemoryError",
        "a task needs more memory: raise it with -D mapreduce.map.memory.mb=... or -D mapreduce.reduce.memory.mb=...",
    ),
]

LOG_LINE = re.compile(r"^(?:\d{4}-\d\d-\d\d[ T]|\d\d/\d\d/\d\d |\[[\w .#-]+\] (?:INFO|WARN|ERROR|DEBUG) )")
PROGRESS = re.compile(r"map (\d+)% reduce (\d+)%")
JOB_ID = re.compile(r"\bjob_\w+_\d+\b")
# Hadoop's local mode runs one task at a time, and says which; a cluster says only how far all are.
TASK = re.compile(r"(Starting|Finishing) task: attempt_\w+_([mr])_(\d+)_\d+$")
SPLIT = re.compile(r"Processing split: (\S+):(\d+)\+(\d+)$")
MERGED = re.compile(r"last merge-pass, with \d+ segments left of total size: (\d+) bytes")
INPUT_NBYTES = {"map": "Bytes Read", "reduce": "Reduce shuffle bytes"}  # counters
NOTABLE = re.compile(r"The url to track the job: (?!http://localhost:8080/).*|Task Id : .*Status : FAILED.*")
COUNTERS = re.compile(r"Counters: \d+$")
ERROR = re.compile(r"^(?:Caused by: |Error: )?(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)\b|\bERROR\b")
ERROR_ALONE = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:: |$)")  # of Python: its class, and what it says
JOB_FAILED = re.compile(r"Job not successful!|Streaming Command Failed!")
MAX_LINES = 20_000  # kept of a log


class JobLogParser:
    """The state of a job, from the output of its client; `say` is called with each line that users should see."""

    def __init__(self, say):
        self._say = say
        self._group = None  # the group of counters that is being read
        self._counting = self._in_traceback = self._follows_ours = False
        self.job_id: str | None = None
        self.progress = None
        self.counters = {}  #: group -> name -> amount
        self.report = []  #: the error reports of failing tasks
        self.lines = []  #: the last lines of the log
        self.tasks: list[TaskHistory] = []  #: by the time at which a line was printed

    def parse_line(self, line):
        """Parse the next line of the log."""
        line = line.rstrip("\r\n")
        self.lines.append(line)
        del self.lines[:-MAX_LINES]
        if not (self._parse_counter(line) or self._parse_report(line)):
            self._parse_progress(line)

    def errors(self):
        """Return the lines in which Java names an error, except those that only say that the job failed."""
        return [line.strip() for line in self.lines if ERROR.search(line) and not JOB_FAILED.search(line)]

    def advice(self):
        """Return advice about the errors in the log, or None."""
        text = "\n".join([*self.report, *self.lines])
        matches = ((re.search(pattern, text), advice) for pattern, advice in ADVICE)
        return next((advice.format(*match.groups()) for match, advice in matches if match), None)

    def fail_tasks(self):
        """Note that the job has failed: so has what has not ended."""
        for task in self.tasks:
            if not task.end:
                task.end, task.failure = time.time(), "it did not end"

    def _parse_counter(self, line):
        if COUNTERS.search(line):
            self._counting, self._group = True, None
        elif self._counting and line.startswith("\t\t") and "=" in line and self._group is not None:
            name, _, amount = line.strip().rpartition("=")
            self._group[name] = int(amount) if amount.lstrip("-").isdigit() else amount
            for task in self.tasks:
                if task.number is None and name == INPUT_NBYTES[task.kind]:
                    task.nbytes = self._group[name]
        elif self._counting and line.startswith("\t"):
            self._group = self.counters.setdefault(line.strip(), {})
        else:
            self._counting = False
        return self._counting

    def _parse_report(self, line):
        # The error report of one of our tasks: lines "typedbytes: NAME: TEXT", then a traceback, which ends
        # with its first line that is not indented. An error that has no frames of the user's is that line alone.
        follows_ours, self._follows_ours = self._follows_ours, line.startswith("typedbytes: ")
        is_ours = self._follows_ours
        if self._in_traceback:
            self._in_traceback = line.startswith(" ") or not line
            is_ours = not LOG_LINE.match(line)
        elif line == "Traceback (most recent call last):":
            self._in_traceback = is_ours = True
        elif follows_ours and ERROR_ALONE.match(line):
            is_ours = True
        if is_ours and line not in self.report[-1:]:
            self.report.append(line)
        return is_ours

    def _parse_progress(self, line):
        match = JOB_ID.search(line)
        if match and self.job_id is None:
            self.job_id = match[0]
            self._say(f"job {self.job_id}")
        match = PROGRESS.search(line)
        if match and (int(match[1]), int(match[2])) != self.progress:
            self.progress = int(match[1]), int(match[2])
            self._say(f"map {self.progress[0]} %, reduce {self.progress[1]} %")
            self._note_progress(*self.progress)
        self._parse_task(line)
        match = NOTABLE.search(line)
        if match:
            self._say(match[0])

    def _parse_task(self, line):
        match = TASK.search(line)
        if match:
            kind, number = {"m": "map", "r": "reduce"}[match[2]], int(match[3])
            if match[1] == "Starting":
                self.tasks = [task for task in self.tasks if task.number is not None]
                self.tasks.append(TaskHistory(kind, number, start=time.time()))
            for task in self.tasks:
                if match[1] == "Finishing" and (task.kind, task.number) == (kind, number):
                    task.end = time.time()
        elif self.tasks and (match := SPLIT.search(line)):
            path, start, nbytes = match[1], int(match[2]), int(match[3])
            self.tasks[-1].source, self.tasks[-1].nbytes = f"{path}, bytes {start} to {start + nbytes}", nbytes
        elif self.tasks and (match := MERGED.search(line)) and self.tasks[-1].kind == "reduce":
            self.tasks[-1].nbytes = int(match[1])

    def _note_progress(self, *percents):
        """Note when all tasks of a kind have begun and ended, where their own times are not printed."""
        if any(task.number is not None for task in self.tasks):
            return
        for kind, percent in zip(("map", "reduce"), percents):
            task = next((task for task in self.tasks if task.kind == kind), None)
            if task is None and (percent or kind == "map"):
                task = TaskHistory(kind, None, start=time.time())
                self.tasks.append(task)
            if task is not None and percent == 100 and not task.end:
                task.end = time.time()
