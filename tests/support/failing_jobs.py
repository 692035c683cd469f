"""Jobs that leave out bad records through the wrappers of streaming.lib, and what plain Python makes of the same lines.

Lines and words fail by their own checksum, in whatever attempt they are read and at one of five steps. Here: the
scripts, the side files of an output, and the pairs that it must have. Not here: what else happens to a job. Invariant:
what is expected uses nothing of streaming.
"""

import collections
import inspect
import zlib

import typedbytes as tb


def failing_step(text):
    """Return the step at which a line or a word fails, None for most."""
    number = zlib.crc32(text.encode())
    return number // 7 % 5 if number % 7 == 0 else None


#: What follows a script's class Job, whose happens(role) may do anything, and its default(obj).
WRAPPED = """
    import zlib
    from typedbytes.streaming import lib

{failing_step}
    class CannotBeEncoded:
        pass

    def default_or_error(obj):
        if isinstance(obj, CannotBeEncoded):
            raise ValueError(obj)
        return default(obj)

    class Wrapped(Job):
        def map(self, offset, line):
            value = self.happens("map") or 1
            step, words = failing_step(line), line.split()
            if step == 0:
                raise ValueError(line)
            for number, word in enumerate(words, 1):
                is_last = number == len(words)
                if is_last and step == 1:
                    raise ValueError(line)
                yield word, CannotBeEncoded() if is_last and step == 2 else value
            if step == 3:
                raise ValueError(line)
            if step == 4:
                yield "no pair"

        def reduce(self, word, counts):
            instead = self.happens(sys.argv[1])
            step = failing_step(word) if sys.argv[1] == "reduce" else None
            if step == 0:
                raise ValueError(word)
            first = next(counts)
            if step == 1:
                raise ValueError(word)
            yield word, CannotBeEncoded() if step == 2 else instead or first + sum(counts)
            if step == 3:
                raise ValueError(word)
            if step == 4:
                yield "no pair"

    def offsets(offset, line):
        for word in line.split():
            yield word, offset

    def several(*mappers):
        multi = lib.MultiMapper()
        for mapper in mappers:
            multi.add("", mapper)
        return multi

    class Joined(lib.JoinReducer):
        name = job = None

        def primary(self, word, offsets):
            self.name = word
            if failing_step("first side " + word) is not None:
                raise ValueError(word)

        def secondary(self, word, counts):
            self.job = self.job or Wrapped()
            for word, count in self.job.reduce(word, counts):
                yield word, count if self.name == word else ["joined with", self.name]
"""
COMBINING = "lib.Combining(Wrapped, nkeys={nkeys})"
#: By name: mapper, reducer and combiner.
JOBS = {
    "combining": (COMBINING, "Wrapped", "Wrapped"),
    "several mappers": (f"several({COMBINING}, lambda offset, line: None)", "Wrapped", "lib.sumreducer"),
    "join": (
        f"several(lib.primary(lib.Combining(offsets, max, {{nkeys}})), lib.secondary({COMBINING}))",
        "Joined", "lib.JoinCombiner",
    ),
}  # fmt: skip


def definitions():
    """Return what a script needs besides Job and default."""
    source = "".join(f"    {line}\n" for line in inspect.getsource(failing_step).splitlines())
    return WRAPPED.format(failing_step=source)


def call(name, rng):
    """Return the words that run a job."""
    mapper, reducer, combiner = (part.format(nkeys=rng.choice([1, 3, 50, 100_000])) for part in JOBS[name])
    max_bad = rng.choice(["1.0", "10**9"])
    return f"{mapper}, {reducer}, combiner={combiner}, max_bad={max_bad}, write_options={{'default': default_or_error}}"


def expected_counts(folder, lines, name, may_fail_elsewhere):
    """Return the counts of words that the output in a folder must have; None if its side files are not the job's.

    may_fail_elsewhere: whether records may be bad that the job itself does not fail for.
    """
    bad_lines = collections.Counter(line for _, line in _left_out(folder, "m"))
    due = collections.Counter(line for line in lines if failing_step(line) is not None)
    counts = collections.Counter(word for line in lines for word in line.split())
    for line, number in bad_lines.items():
        counts.subtract(word for _ in range(number) for word in line.split())
    for word, number in _left_out(folder, "c"):
        counts[word] -= number
    bad_words = {key[0] if isinstance(key, tuple) else key for key, _ in _left_out(folder, "r")}
    due_words = {word for word, number in counts.items() if number and failing_step(word) is not None}
    if name == "join":
        due_words |= {
            word for word, number in counts.items() if number and failing_step("first side " + word) is not None
        }
    is_explained = not due - bad_lines and due_words <= bad_words and min(counts.values(), default=0) >= 0
    if not is_explained or not may_fail_elsewhere and (bad_lines != due or bad_words != due_words):
        return None
    return {word: number for word, number in counts.items() if number and word not in bad_words}


def _left_out(folder, role):
    paths = folder.glob(f"bad-records-{role}-*")
    return [
        (tb.loads(key), tb.loads(value)) for path in paths for key, value in tb.PairReader(path.read_bytes(), raw=True)
    ]
