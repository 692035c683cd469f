"""Skip bad records: a job with max_bad loses a few records instead of failing.

A record is skipped when its end is known and it cannot be decoded, or user code raises an exception for it.
Its bytes go to a side file, a counter counts it, and beyond the limit the task fails. Never skipped:
truncated input and input without structure, since the start of its next record is unknown, and errors of the input
and the output themselves. The output of a record is encoded as a whole before any of it is written.
"""

from typedbytes import dumps
from typedbytes._core import END, RecordGroups, RecordIterator, step_as_base
from typedbytes.errors import DecodeError
from typedbytes.streaming._reporter import counter, write_failure, write_line
from typedbytes.streaming._sidefiles import side_file
from typedbytes.streaming._user_code import StopEarly, TooManyBadRecords, pairs_of

NSHOWN = 10  # records whose errors are shown; the side file has them all
MIN_RECORDS = 1000  # a share in max_bad is of at least this many records


class BadRecords:
    """The records skipped so far; *limit* is a number of records, or as a float a share of them."""

    def __init__(self, limit):
        self._limit = limit
        self._nbad = 0
        self._last = ""
        self._first = None  # the first error, until a record succeeds; shown if none does
        self._has_good = False
        self._file = None

    def add_good(self):
        """Count a record as processed."""
        self._has_good, self._first = True, None

    def add(self, record, error, nread):
        """Keep the bytes of a record and report why it is skipped; raises TooManyBadRecords."""
        self._nbad += 1
        counter("typedbytes", "BadRecords")
        said = _named(error)
        self._last = said.partition("\n")[0]
        if not self._has_good:
            self._first = self._first or error
        if self._nbad <= NSHOWN:
            write_line(f"typedbytes: bad record {self._nbad}, of {nread} read: {said}")
        self._file = self._file or side_file("bad-records")
        self._file.write(record)
        self.check(max(nread, MIN_RECORDS), error)

    def check(self, nread, cause=None):
        """Raise TooManyBadRecords when more than the limit are bad among `nread` records."""
        allowed = self._limit * nread if isinstance(self._limit, float) else self._limit
        if self._nbad > allowed:
            said = f"{self._nbad} bad records exceed max_bad={self._limit}"
            if self._first is None:
                raise TooManyBadRecords(f"{said}; last error: {self._last}") from cause
            raise TooManyBadRecords(f"{said}, and no record so far was good{self._suspicion()}; {self._first_error()}") from self._first

    def finish(self, nread):
        """Check the limit at the end of the records; say so if all were bad: a mistake in user code would go unnoticed."""
        self.check(nread)
        if self._first is None:
            return
        said = f"{self._nbad} were left out, as max_bad={self._limit} allows{self._suspicion()}"
        if self._suspicion():
            write_failure([("no record was good", f"{said}; its first error follows")], self._first)
        else:
            write_line(f"typedbytes: no record was good: {said}; {self._first_error()}")

    def _suspicion(self):
        return "" if isinstance(self._first, DecodeError) else "; the job's own code may be wrong"

    def _first_error(self):
        return f"first error: {_named(self._first)}".partition("\n")[0]


def _named(error):
    return f"{type(error).__name__}: {error}"


class BadRecordSkipper:
    """Call user code for the records of a task one by one, and skip those that fail."""

    def __init__(self, limit, group_by, source, sink, is_broken, has_groups=False):
        self._bad = BadRecords(limit)
        self._group_by = group_by
        self._has_groups = has_groups  # whether the input knows the groups
        self._input = source
        self._output = sink
        self._is_broken = is_broken  # returns whether the input or the output has failed
        self._groups = None

    def run(self, method, process):
        """Call user code by the method, map or reduce; a limit given as a share is checked at the end of the records."""
        try:
            method(process)
        except StopEarly:
            self._bad.finish(self._input.record)
            raise
        self._bad.finish(self._input.record)

    def map(self, process):
        """Call a mapper for each record."""
        for record in self._input.raw_pairs():
            self._call(record, lambda: process(*map(self._input.decode, record)))

    def reduce(self, process):
        """Call a reducer for each group."""
        self._groups = RecordGroups(KeyedPairs(self, self._input.raw_pairs()))
        for key, records in self._groups:
            values = DecodableValues(self, records)
            self._call(values, lambda: process(key, values))

    def _check_end(self):
        """Raise the error that occurred between the input and user code, or RuntimeError where records were not passed on."""
        if self._groups is not None:
            self._groups._check_end()

    def skip(self, record, error):
        """Skip a record, or raise the error when the input or the output has failed."""
        if self._is_broken():
            raise error
        self._bad.add(self._input.packed(*record), error, self._input.record)

    def decoded(self, item):
        """Return a key or a value."""
        return self._input.decode(item)

    def group_of(self, record, key):
        """Return bytes that are equal for all raw pairs of a group; `record` is the pair read last."""
        if self._has_groups:
            return self._input.group_of(record)
        return record[0] if self._group_by is None else dumps(self._group_by(key))

    def _call(self, subject, call):
        encoded, failure = [], None
        try:
            for pair in pairs_of(call()):
                encoded.append(self._output.encoded(pair))
        except StopEarly:
            self._bad.add_good()
            self._output.write_encoded(encoded)
            raise
        except Exception as error:
            failure = error
        if isinstance(subject, DecodableValues):
            failure = failure or subject.failure  # user code may have caught it and continued with some of the values
            subject = subject.last() if failure else None
        if failure:
            self.skip(subject, failure)
        else:
            self._bad.add_good()
            self._output.write_encoded(encoded)


@step_as_base
class KeyedPairs(RecordIterator):
    """The raw pairs whose keys can be decoded, as (bytes of the group, key, raw pair)."""

    def __init__(self, skipper, records):
        self._skipper = skipper
        self._records = records

    def _step(self):
        for record in self._records:
            try:
                key = self._skipper.decoded(record[0])
                return self._skipper.group_of(record, key), key, record
            except Exception as error:
                self._skipper.skip(record, error)
        return END


@step_as_base
class DecodableValues(RecordIterator):
    """The values of a group that can be decoded."""

    def __init__(self, skipper, records):
        self._skipper = skipper
        self._records = records
        self._last = None

    @property
    def failure(self):
        """The error that reading the values has failed with, or None."""
        return self._failure

    def _step(self):
        for self._last in self._records:  # noqa: B020, an attribute does not replace self
            try:
                return self._skipper.decoded(self._last[1])
            except DecodeError as error:
                self._skipper.skip(self._last, error)
        return END

    def last(self):
        """Return the raw pair that was read last; if none was read, read the first."""
        return self._last or next(self._records)
