"""Parse the log that Hadoop's client prints while a job runs: progress, counters, errors.

Here: parsing that log line by line. Not here: how the job was started. Invariant: no line makes
the parser fail; unknown lines are ignored.
"""

import re

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
NOTABLE = re.compile(r"The url to track the job: (?!http://localhost:8080/).*|Task Id : .*Status : FAILED.*")
COUNTERS = re.compile(r"Counters: \d+$")
ERROR = re.compile(r"^(?:Caused by: |Error: )?(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)\b|\bERROR\b")
JOB_FAILED = re.compile(r"Job not successful!|Streaming Command Failed!")
MAX_LINES = 20_000  # kept of a log


class JobLogParser:
    """The state of a job, from the output of its client; `say` is called with each line that users should see."""

    def __init__(self, say):
        self._say = say
        self._group = None  # the group of counters that is being read
        self._counting = self._in_traceback = False
        self.job_id: str | None = None
        self.progress = None
        self.counters = {}  #: group -> name -> amount
        self.report = []  #: the error reports of failing tasks
        self.lines = []  #: the last lines of the log

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
        return next((advice.format(*found.groups()) for found, advice in matches if found), None)

    def _parse_counter(self, line):
        if COUNTERS.search(line):
            self._counting, self._group = True, None
        elif self._counting and line.startswith("\t\t") and "=" in line and self._group is not None:
            name, _, amount = line.strip().rpartition("=")
            self._group[name] = int(amount) if amount.lstrip("-").isdigit() else amount
        elif self._counting and line.startswith("\t"):
            self._group = self.counters.setdefault(line.strip(), {})
        else:
            self._counting = False
        return self._counting

    def _parse_report(self, line):
        # The error report of one of our tasks: lines "typedbytes: NAME: TEXT", then a traceback, which ends
        # with its first line that is not indented.
        is_ours = line.startswith("typedbytes: ")
        if self._in_traceback:
            self._in_traceback = line.startswith(" ") or not line
            is_ours = not LOG_LINE.match(line)
        elif line == "Traceback (most recent call last):":
            self._in_traceback = is_ours = True
        if is_ours and line not in self.report[-1:]:
            self.report.append(line)
        return is_ours

    def _parse_progress(self, line):
        found = JOB_ID.search(line)
        if found and self.job_id is None:
            self.job_id = found[0]
            self._say(f"job {self.job_id}")
        found = PROGRESS.search(line)
        if found and (int(found[1]), int(found[2])) != self.progress:
            self.progress = int(found[1]), int(found[2])
            self._say(f"map {self.progress[0]} %, reduce {self.progress[1]} %")
        found = NOTABLE.search(line)
        if found:
            self._say(found[0])
