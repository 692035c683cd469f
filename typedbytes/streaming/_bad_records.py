"""Skip bad records: a job with max_bad loses a few records instead of failing.

A record is skipped when its end is known and it cannot be decoded, or user code raises an exception for it or for its
group. Its bytes go to a side file, a counter counts it, and beyond the limit the task fails. Never skipped: truncated
input and input without structure, since the start of its next record is unknown, and errors of the input and the output
themselves. The output of a record is encoded as a whole before any of it is written, and what our wrappers have kept of
it is undone. A group has the records that can be decoded; the reducer is not called for one without any.
"""

from itertools import islice

from typedbytes import dumps
from typedbytes._core import END, RecordGroups, RecordIterator, step_as_base
from typedbytes.errors import DecodeError
from typedbytes.streaming import _changes
from typedbytes.streaming._reporter import counter, text_of, write_failure, write_line
from typedbytes.streaming._sidefiles import side_file
from typedbytes.streaming._user_code import StopEarly, TooManyBadRecords, pairs_of

NSHOWN = 10  # errors that are shown; the side file has all records
MIN_RECORDS = 1000  # a share in max_bad is of at least this many records


class BadRecords:
    """The records skipped so far; *limit* is a number of records, or as a float a share of them."""

    def __init__(self, limit):
        self._limit = limit
        self._nbad = 0
        self._nerrors = 0
        self._last = ""
        self._first = None  # the first error, until a record succeeds; shown if none does
        self._has_good = False
        self._file = None

    def add_good(self):
        """Count a record as processed."""
        self._has_good, self._first = True, None

    def allows(self, nmore, nread):
        """Return whether as many more may be bad among `nread` records."""
        return self._nbad + nmore <= self._allowed(max(nread, MIN_RECORDS))

    def add(self, records, error, nread, is_too_many=False):
        """Keep the bytes of the records that an error has made bad, and report why; raises TooManyBadRecords."""
        first = self._nbad + 1
        self._nbad += len(records)
        counter("typedbytes", "BadRecords", len(records))
        said = _named(error)
        self._last = said.partition("\n")[0]
        if not self._has_good:
            self._first = self._first or error
        self._nerrors += 1
        if self._nerrors <= NSHOWN:
            those = f"record {first}" if first == self._nbad else f"records {first} to {self._nbad}"
            write_line(f"typedbytes: bad {those}, of {nread} read: {said}")
        self._file = self._file or side_file("bad-records")
        self._file.writelines(records)
        self.check(max(nread, MIN_RECORDS), error, is_too_many)

    def check(self, nread, cause=None, is_too_many=False):
        """Raise TooManyBadRecords when more than the limit are bad among `nread` records, or surely will be."""
        if is_too_many or self._nbad > self._allowed(nread):
            said = f"{self._nbad} bad records exceed max_bad={self._limit}"
            if self._first is None:
                raise TooManyBadRecords(f"{said}; last error: {self._last}") from cause
            raise TooManyBadRecords(
                f"{said}, and no record so far was good{self._suspicion()}; {self._first_error()}"
            ) from self._first

    def _allowed(self, nread):
        return self._limit * nread if isinstance(self._limit, float) else self._limit

    def finish(self, nread):
        """Check the limit at the end of the records; say so if all were bad, by a mistake in user code."""
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
    return f"{type(error).__name__}: {text_of(error)}"


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
        self._changes = _changes.Changes(sink.check)

    def run(self, method, process):
        """Call user code by the method, map or reduce; a share as a limit is checked at the end of the records."""
        _changes.current = self._changes
        try:
            method(process)
        except StopEarly:
            self._bad.finish(self._input.record)
            raise
        finally:
            _changes.current = None
        self._bad.finish(self._input.record)

    def map(self, process):
        """Call a mapper for each record."""
        decode_key, decode_value = self._input.decode_key, self._input.decode_value
        for record in self._input.raw_pairs():
            self._call(record, lambda: process(decode_key(record[0]), decode_value(record[1])))

    def reduce(self, process):
        """Call a reducer for each group."""
        pairs = DecodablePairs(self, self._input.raw_pairs())
        self._groups = RecordGroups(pairs)
        for key, records in self._groups:
            values = GroupValues(self, pairs, records)
            self._call(values, lambda: process(key, values))

    def _check_end(self):
        """Raise the error between the input and user code, or RuntimeError where records were not passed on."""
        if self._groups is not None:
            self._groups._check_end()

    def skip(self, records, error, is_too_many=False):
        """Skip records for an error, or raise it when the input or the output has failed, or a debugger was called."""
        from typedbytes.streaming.advice import is_of_debugger

        if self._is_broken() or is_of_debugger(error):
            raise error
        self._bad.add([self._input.packed(*record) for record in records], error, self._input.record, is_too_many)

    def may_skip(self, nrecords):
        """Return whether as many records may be skipped."""
        return self._bad.allows(nrecords, self._input.record)

    def decoded(self, key, value):
        """Return a key and a value."""
        return self._input.decode_key(key), self._input.decode_value(value)

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
        if isinstance(subject, GroupValues):
            failure = failure or subject.failure  # user code may have caught it and continued with some of the values
        if not failure:
            self._bad.add_good()
            self._output.write_encoded(encoded)
            if self._changes.notes:
                self._changes.notes.clear()
            return
        self._changes.undo()
        self._output.drop_encoded()
        if isinstance(subject, GroupValues):
            self.skip(subject.read_rest(), failure, subject.is_too_large)
        else:
            self.skip([subject], failure)


@step_as_base
class DecodablePairs(RecordIterator):
    """The raw pairs that can be decoded, as (bytes of the group, key, raw pair); `value` is that of the last one."""

    def __init__(self, skipper, records):
        self._skipper = skipper
        self._records = records
        self.value = None

    def _step(self):
        for record in self._records:
            try:
                key, self.value = self._skipper.decoded(*record)
                return self._skipper.group_of(record, key), key, record
            except Exception as error:
                self._skipper.skip([record], error)
        return END


@step_as_base
class GroupValues(RecordIterator):
    """The values of a group, and its raw pairs, which are left out when the group fails."""

    def __init__(self, skipper, pairs, records):
        self._skipper = skipper
        # no more than one pair is read ahead: its value is that of the pair that `records` gives next
        self._pairs = pairs
        self._records = records
        self._read = []  # raw pairs
        self._nkept = None  # how many of them are kept, and the last, when they are more than may be left out

    @property
    def failure(self):
        """The error that reading the values has failed with, or None."""
        return self._failure

    @property
    def is_too_large(self):
        """Whether more pairs were read than may be left out."""
        return self._nkept is not None

    def _step(self):
        return self._pairs.value if self._read_pair() else END

    def read_rest(self):
        """Read the rest of the group and return its raw pairs; if it is too large, only as many as exceed the limit."""
        while not self.is_too_large and self._read_pair():
            pass
        return self._read[: self._nkept]

    def _read_pair(self):
        """Read the next raw pair; return whether there was one."""
        if not (self.is_too_large or self._skipper.may_skip(len(self._read))):
            self._nkept = len(self._read)
        nkept = self._nkept or len(self._read)
        self._read[nkept:] = islice(self._records, 1)  # in one step: what interrupts it does not lose the pair
        return len(self._read) > nkept
