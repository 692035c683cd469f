"""What Hadoop's client says while a job runs: how far it is, what was counted, and what went wrong.

Belongs here: reading that log, a line at a time. What this file must not know: how the job was started. Always true: no
line makes it fail; what is not known is passed over.
"""

import re

#: (what Hadoop or Python says, what to do), the more telling ones first; {} is what the pattern has found in its group.
ADVICE = [
    (
        r"Output directory \S+ already exists",
        "the output is there already: give another --output, or remove it with hadoop fs -rm -r",
    ),
    (
        r"Input (?:path|Pattern)\b.* (?:does not exist|matches 0 files)",
        "there is no such input: look with hadoop fs -ls; a path without a scheme is one of fs.defaultFS",
    ),
    (
        r"JAVA_HOME is (?:not set|incorrectly set)",
        "Hadoop finds no Java: export JAVA_HOME, the folder that holds bin/java",
    ),
    (
        r"UnsupportedClassVersionError",
        "the Java is too old for this Hadoop: export a JAVA_HOME with the version that it was built for",
    ),
    (
        r"getSubject is (?:not supported|supported only if)",
        "the Java is too new for this Hadoop, which needs version 22 or older: export JAVA_HOME=... of a Java 11 or "
        "17",
    ),
    (
        r"InaccessibleObjectException|does not \"opens java\.base\"",
        "the Java is too new for this Hadoop: export JAVA_HOME=... of a Java 8 or 11",
    ),
    (
        r"Cannot run program \"([^\"]+)\".*No such file",
        "the nodes have no program {}: name their Python by its whole path with --python",
    ),
    (
        r"No module named '?typedbytes\._",
        "the nodes run another version of Python than the bundle was made for: name one with --python, or make a "
        "bundle for theirs with typedbytes bundle --python-version",
    ),
    (
        r"No module named '?typedbytes'?",
        "the nodes have no typedbytes: submit without --no-bundle, or install it there",
    ),
    (
        r"No module named '?([\w.]+)",
        "the nodes have no module {}: ship a file with --ship, or put a package into a bundle with typedbytes bundle "
        "--module or --require",
    ),
    (
        r"usage: \S+ map\|combine\|reduce",
        "the script must end in streaming.run(mapper, reducer), with a combiner when --combiner is given",
    ),
    (
        r"GLIBC_\d|GLIBCXX_\d",
        "the nodes' system is older than the one that the bundle was made on: make one of wheels for manylinux with "
        "typedbytes bundle --platform",
    ),
    (
        r"(\S+) not a SequenceFile",
        "{} is no SequenceFile: read its lines with --input-format text, or make one of pairs with typedbytes loadtb",
    ),
    (
        r"(?:EOF|Checksum)Exception.*\n(?:\s+at .*\n){,12}?\s+at org\.apache\.hadoop\.io\.SequenceFile\$Reader",
        "an input file is damaged: typedbytes validate FILE says where, and with --repair GOOD it saves what is intact",
    ),
    (
        r"Too many counters",
        "Hadoop allows 120 counters in all: count less names",
    ),
    (
        r"(?:Connection refused|UnknownHostException|NoRouteToHost)",
        "the cluster does not answer: look at fs.defaultFS and yarn.resourcemanager.address in HADOOP_CONF_DIR",
    ),
    (
        r"AccessControlException|Permission denied: user=",
        "the cluster does not let you: log in (kinit), or choose a folder of your own for --output",
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
NEWS = re.compile(r"The url to track the job: (?!http://localhost:8080/).*|Task Id : .*Status : FAILED.*")
COUNTERS = re.compile(r"Counters: \d+$")
ERROR = re.compile(r"^(?:Caused by: |Error: )?(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)\b|\bERROR\b")
NO_NEWS = re.compile(r"Job not successful!|Streaming Command Failed!")
MOST_LINES = 20_000  # of a log that are kept


class JobLogParser:
    """The state of a job, from what its client says; `say` is called with every line worth showing."""

    def __init__(self, say):
        self._say = say
        self._group = None  # of counters, inside their list
        self._counting = self._in_traceback = False
        self.job_id = None
        self.progress = None
        self.counters = {}  #: group -> name -> amount
        self.report = []  #: what failing tasks said of themselves
        self.lines = []  #: the end of the log

    def take(self, line):
        """Take the next line of the log."""
        line = line.rstrip("\r\n")
        self.lines.append(line)
        del self.lines[:-MOST_LINES]
        if not (self._take_counter(line) or self._take_report(line)):
            self._take_news(line)

    def errors(self):
        """Return the lines in which Java names an error, but for those that only say that there was one."""
        return [line.strip() for line in self.lines if ERROR.search(line) and not NO_NEWS.search(line)]

    def advice(self):
        """Return what to do about what was said, None where nobody knows."""
        text = "\n".join([*self.report, *self.lines])
        matches = ((re.search(said, text), advice) for said, advice in ADVICE)
        return next((advice.format(*found.groups()) for found, advice in matches if found), None)

    def _take_counter(self, line):
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

    def _take_report(self, line):
        # Our own task's last words: facts, then a traceback, which ends with the first line that is not indented.
        is_ours = line.startswith("typedbytes: ")
        if self._in_traceback:
            self._in_traceback = line.startswith(" ") or not line
            is_ours = not LOG_LINE.match(line)
        elif line == "Traceback (most recent call last):":
            self._in_traceback = is_ours = True
        if is_ours and line not in self.report[-1:]:
            self.report.append(line)
        return is_ours

    def _take_news(self, line):
        found = JOB_ID.search(line)
        if found and self.job_id is None:
            self.job_id = found[0]
            self._say(f"job {self.job_id}")
        found = PROGRESS.search(line)
        if found and (int(found[1]), int(found[2])) != self.progress:
            self.progress = int(found[1]), int(found[2])
            self._say(f"map {self.progress[0]} %, reduce {self.progress[1]} %")
        found = NEWS.search(line)
        if found:
            self._say(found[0])
