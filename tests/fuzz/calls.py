"""Sequences of calls: operations, hooks, kinds of sources and sinks, use after an error, and coming back while busy.

Here: small programs read from bytes, and the model that each is held against. Not here: the wire, but for what a whole
buffer decodes to. Invariant: whatever is called in whatever order, only documented exceptions come out, a failed reader
stays failed, and a sink has whole records in order, once each.
"""

import io

import typedbytes
from fuzz import options as sets
from fuzz.choices import Choices
from fuzz.encoding import Objects
from fuzz.streams import GUARD, SOURCES, said
from typedbytes.errors import DecodeError, EncodeError


class SourceError(OSError):
    """What a bad source raises here."""


class Bad:
    """A source that misbehaves at one of its calls, in the way chosen."""

    WAYS = ("raise", "none", "text", "too much", "negative", "come back", "end", "interrupt", "stop")

    def __init__(self, data, choices):
        self.file = io.BytesIO(data)
        self.when, self.way = choices.below(6), choices.pick(self.WAYS)
        self.step = choices.pick((1, 3, 64, 1 << 17))
        self.reader = None

    def read(self, nbytes):
        """Return bytes until the call that goes wrong."""
        self.when -= 1
        if self.when >= 0:
            return self.file.read(min(nbytes, self.step))
        return self.misbehave(nbytes)

    def misbehave(self, nbytes):
        """Do what was chosen."""
        if self.way == "raise":
            raise SourceError("bad source")
        if self.way == "interrupt":
            raise KeyboardInterrupt
        if self.way == "stop":
            raise StopIteration
        if self.way == "come back":
            for call in (
                self.reader.read,
                self.reader.close,
                self.reader.detach,
                self.reader.skip,
                lambda: next(self.reader),
            ):
                _refused(call)
            return self.file.read(nbytes)
        return {"none": None, "text": "text", "too much": bytes(nbytes + 1), "negative": -1, "end": b""}[self.way]


class BadInto(Bad):
    """The same by readinto."""

    read = None

    def readinto(self, target):
        """Fill a buffer until the call that goes wrong."""
        self.when -= 1
        if self.when >= 0:
            return self.file.readinto(memoryview(target)[: self.step])
        if self.way == "too much":
            return len(target) + 1
        if self.way == "negative":
            return -1
        found = self.misbehave(len(target))
        if type(found) is bytes:
            target[: len(found)] = found
            return len(found)
        return found


#: What a source's own fault comes out as, besides what it raises itself.
SOURCE_FAULTS = (SourceError, BlockingIOError, TypeError, ValueError, RuntimeError, KeyboardInterrupt)
ALL_SOURCES = [*SOURCES, Bad, Bad, BadInto, BadInto, lambda data, choices: bytearray(data)]


def _refused(call):
    """Call what must be refused, because the reader is in use."""
    try:
        call()
    except RuntimeError:
        return
    raise AssertionError("a busy object allowed another call")


def check_reading(data):
    """Read a wire by a program: two bytes of length, the wire, the program."""
    nbytes = int.from_bytes(data[:2], "big")
    choices = Choices(data[2 + nbytes :])
    Reading(data[2 : 2 + nbytes], choices).run()


class Reading:
    """One reader or fed decoder, called as the choices say."""

    def __init__(self, wire, choices):
        self.choices = choices
        self.options = choices.pick(sets.DECODE)
        self.kind = choices.pick((typedbytes.Reader, typedbytes.Reader, typedbytes.PairReader, typedbytes.Decoder))
        self.raw = choices.below(4) == 3 and self.kind is not typedbytes.Decoder
        self.wire = GUARD.put(wire)
        self.failure = None
        self.closed = False
        self.ended = False  # a decoder knows that no more will be fed
        self.source = None
        self.offset = 0  # in the wire, of the next bytes to feed

    def run(self):
        """Make the object, call it until the choices run out, and look whether it released its source."""
        if self.kind is typedbytes.Decoder:
            self.run_decoder()
            return
        self.source = self.choices.pick(ALL_SOURCES)(bytes(self.wire), self.choices)
        reader = self.kind(
            self.source, raw=self.raw, read_ahead=self.choices.below(2) == 1, buffer_size=1, **self.options
        )
        if isinstance(self.source, Bad):
            self.source.reader = reader
        while self.choices:
            self.step(reader, self.choices.pick(READER_CALLS))
        reader.close()
        if type(self.source) is bytearray:
            self.source.append(0)  # no view holds it any longer

    def step(self, reader, call):
        """Make one call; it gives what it should, raises what it may, or raises again what the first failure was."""
        before = self.failure
        try:
            call(self, reader)
        except sets.DOCUMENTED + SOURCE_FAULTS as error:
            self.check_error(error, before, call)
        else:
            assert before is None or call in CALLS_OF_FAILED or self.closed, f"{call.__name__} after {before!r}"
        if type(self.source) is bytearray and not self.closed:
            self.check_held()

    def check_error(self, error, before, call):
        """A failed reader raises its failure again; a closed one says that it is."""
        if self.closed:
            assert type(error) is ValueError, error
        elif before is not None:
            assert said(error) == said(before) or call in GROUP_CALLS, (error, before)
        elif isinstance(error, DecodeError) or isinstance(self.source, Bad) or isinstance(error, sets.HookError):
            self.failure = error
            if type(error) is RuntimeError and call in GROUP_CALLS:
                self.failure = None
        else:
            assert type(error) is RuntimeError, error  # the group is gone, or its value is due

    def check_held(self):
        """A buffer that is being read cannot change its size."""
        try:
            self.source.append(0)
        except BufferError:
            return
        raise AssertionError("a buffer in use could be resized")

    def run_decoder(self):
        """Feed and iterate in any order."""
        decoder = typedbytes.Decoder(**self.options)
        while self.choices:
            self.step(decoder, self.choices.pick(DECODER_CALLS))
        assert decoder.pending >= 0


def read_one(reading, reader):
    """Take one record."""
    reader.read()


def take_all(reading, reader):
    """Take all records."""
    reader.read_all()


def skip_some(reading, reader):
    """Pass over records."""
    wanted = reading.choices.below(5)
    assert 0 <= reader.skip(wanted) <= wanted


def iterate(reading, reader):
    """Iterate a little."""
    for _ in zip(range(reading.choices.below(4) + 1), reader):
        pass


def look(reading, reader):
    """Ask where the reader is."""
    assert 0 <= reader.offset <= len(reading.wire) + (1 << 18) and reader.record >= 0
    repr(reader)


def close(reading, reader):
    """Close."""
    reader.close()
    reading.closed = True


def detach(reading, reader):
    """Take what was read ahead."""
    was_closed = reading.closed
    rest = reader.detach()
    assert type(rest) is bytes and (rest == b"" or not was_closed)
    reading.closed = True


def make_again(reading, reader):
    """Initialise again, which is refused."""
    try:
        reader.__init__(b"")
    except RuntimeError:
        return
    raise AssertionError("initialised again")


def copy_rest(reading, reader):
    """Copy what is left to a writer."""
    kind = typedbytes.PairWriter if isinstance(reader, typedbytes.PairReader) else typedbytes.Writer
    with kind(io.BytesIO()) as writer:
        writer.copy(reader)


def group(reading, reader):
    """Walk some groups, and use one too late."""
    if not isinstance(reader, typedbytes.PairReader):
        return
    old = None
    for _, (_, values) in zip(range(3), reader.groups()):
        if old is not None and reading.choices.below(2):
            try:
                next(old)
            except RuntimeError:
                pass
            else:
                raise AssertionError("a group that is gone gave a value")
        for _ in zip(range(reading.choices.below(3)), values):
            pass
        old = values


def one_group(reading, reader):
    """Take a group's key and leave its values."""
    if isinstance(reader, typedbytes.PairReader):
        next(reader.groups(), None)


def rewrite(reading, reader):
    """Change the bytes of a buffer that is being read."""
    if type(reading.source) is bytearray and reading.source:
        reading.source[reading.choices.byte() % len(reading.source)] ^= reading.choices.byte()


READER_CALLS = [
    read_one, read_one, read_one, take_all, skip_some, skip_some, iterate, look, close, detach, make_again, copy_rest,
    group, one_group, rewrite,
]  # fmt: skip
GROUP_CALLS = (group, one_group, read_one, take_all, skip_some, iterate, copy_rest)
CALLS_OF_FAILED = (look, close, detach, make_again, rewrite, group, one_group, skip_some)


def feed(reading, decoder):
    """Feed a piece; refused after the end was declared."""
    nbytes = reading.choices.pick((0, 1, 2, 3, 7, 64, 1 << 17))
    try:
        decoder.feed(reading.wire[reading.offset : reading.offset + nbytes])
    except (ValueError, *sets.DOCUMENTED):
        if reading.ended and reading.failure is None:
            return
        raise
    reading.offset = min(reading.offset + nbytes, len(reading.wire))


def drain(reading, decoder):
    """Take what is whole."""
    for _ in decoder:
        pass


def drain_one(reading, decoder):
    """Take one value, when there is one."""
    next(decoder, None)


def end(reading, decoder):
    """Say that no more will come; an error in the rest comes again after the values that are complete."""
    reading.ended = True
    try:
        decoder.close()
    except sets.DOCUMENTED:
        if reading.failure is not None:
            raise


def decode_other_buffer(reading, decoder):
    """Decode a whole buffer with the same object."""
    try:
        decoder.decode_all(reading.wire)
    except sets.DOCUMENTED:
        pass


def make_decoder_again(reading, decoder):
    """Initialise again: refused once something was fed."""
    try:
        decoder.__init__(**reading.options)
    except RuntimeError:
        return
    assert not reading.offset, "initialised again"


DECODER_CALLS = [feed, feed, feed, drain, drain, drain_one, end, decode_other_buffer, make_decoder_again]
CALLS_OF_FAILED += (decode_other_buffer, make_decoder_again, feed)


# -- writing ----------------------------------------------------------------------------------------------


class SinkError(OSError):
    """What a bad sink raises here."""


class Sink:
    """A sink that takes what it likes, keeps what it took, and fails at some calls."""

    def __init__(self, choices):
        self.taken = bytearray()
        self.manner = choices.pick(("all", "part", "uncounted", "fails", "fails", "blocks", "miscounts", "comes back"))
        self.when = choices.below(5)
        self.writer = None

    def write(self, data):
        """Take bytes."""
        self.when -= 1
        if self.manner == "fails" and self.when == 0:
            raise SinkError("bad sink")
        if self.manner == "blocks" and self.when == 0:
            self.taken += data[:1]
            raise BlockingIOError(11, "would block", 1)
        if self.manner == "miscounts" and self.when == 0:
            return len(data) + 1
        if self.manner == "comes back":
            _refused(lambda: self.writer.flush())
            _refused(
                lambda: self.writer.write(1) if type(self.writer) is typedbytes.Writer else self.writer.write(1, 1)
            )
        nbytes = 1 + len(data) // 3 if self.manner == "part" else len(data)
        self.taken += data[:nbytes]
        return None if self.manner == "uncounted" else nbytes


class Writing:
    """A writer, called as the choices say, and the bytes that must have come out."""

    def __init__(self, choices):
        self.choices = choices
        self.options = choices.pick(sets.ENCODE)
        self.pairs = choices.below(3) == 2
        self.sink = Sink(choices)
        kind = typedbytes.PairWriter if self.pairs else typedbytes.Writer
        self.writer = self.sink.writer = kind(self.sink, buffer_size=choices.pick((1, 2, 64, 1 << 16)), **self.options)
        self.encoder = typedbytes.Encoder(**self.options)
        self.objects = Objects(choices)
        self.expected = bytearray()
        self.nrecords = 0

    def run(self):
        """Call the writer until the choices run out; then everything gets out by trying again."""
        while self.choices:
            call = self.choices.pick(
                (self.write, self.write, self.write, self.writes, self.write_raw, self.flush, self.copy)
            )
            try:
                call()
            except (SinkError, BlockingIOError):
                pass
            except OSError as error:
                assert self.sink.manner == "miscounts", error
                self.abandon()
                return
            self.check()
        self.finish()

    def check(self):
        """Everything written is taken or waits; nothing twice, nothing cut."""
        assert self.writer.offset == len(self.expected), (self.writer.offset, len(self.expected))
        assert self.writer.record == self.nrecords
        assert self.expected.startswith(self.sink.taken)

    def finish(self):
        """Close, again when the sink failed, and look at what it has."""
        try:
            self.writer.flush()
        except (SinkError, BlockingIOError):
            self.writer.flush()
        except OSError:
            assert self.sink.manner == "miscounts"
            self.abandon()
            return
        self.writer.close()
        assert self.sink.taken == self.expected
        try:
            self.write()
        except ValueError:
            return
        raise AssertionError("a closed writer took a record")

    def abandon(self):
        """Let go of a writer whose sink cannot be believed; what waits is given up without a warning."""
        self.sink.manner = "all"
        self.writer.close()

    def encoded(self, obj):
        """Return the bytes of an object, or None when it cannot be encoded."""
        try:
            return self.encoder.encode(obj)
        except EncodeError:
            return None

    def note(self, *parts):
        """Remember what the writer has taken."""
        for part in parts:
            self.expected += part
        self.nrecords += 1

    def write(self):
        """Write one record, good or bad."""
        items = [self.objects.value(2) for _ in range(1 + self.pairs)]
        parts = [self.encoded(item) for item in items]
        good = None not in parts
        if good:
            self.note(*parts)
        try:
            self.writer.write(*items)
        except EncodeError:
            assert not good
        except ValueError:
            if good:  # closed
                del self.expected[len(self.expected) - sum(map(len, parts)) :]
                self.nrecords -= 1
            raise

    def writes(self):
        """Write some records at once: good ones."""
        items = [1, "a", None, (2.5,), [b"x"]][: self.choices.below(6)]
        self.many(self.writer.writes, [(item, item) for item in items] if self.pairs else items)

    def many(self, call, records):
        """Write records; where the sink fails, those up to there are kept."""
        try:
            parts = [
                self.encoder.encode_pairs([record]) if self.pairs else self.encoder.encode(record) for record in records
            ]
        except EncodeError:
            return
        before, nbefore = len(self.expected), self.nrecords
        for part in parts:
            self.note(part)
        try:
            assert call(records) == len(records)
        except (SinkError, BlockingIOError):
            nkept = self.writer.record - nbefore
            del self.expected[before + sum(map(len, parts[:nkept])) :]
            self.nrecords = nbefore + nkept
            raise

    def write_raw(self):
        """Write bytes as they are."""
        parts = [self.choices.take(self.choices.below(9)) for _ in range(1 + self.pairs)]
        self.note(*parts)
        self.writer.write_raw(*parts)

    def copy(self):
        """Copy records from a reader."""
        wire = b"\x02\1\x03\0\0\0\7\x09\xff\x07\0\0\0\1a"
        kind = typedbytes.PairReader if self.pairs else typedbytes.Reader
        before, nbefore = len(self.expected), self.nrecords
        self.expected += wire
        self.nrecords += 2 if self.pairs else 4
        try:
            self.writer.copy(kind(wire))
        except (SinkError, BlockingIOError):
            del self.expected[self.writer.offset :]
            self.nrecords = self.writer.record
            assert before <= len(self.expected) and nbefore <= self.nrecords
            raise

    def flush(self):
        """Flush; the sink then has everything."""
        self.writer.flush()
        assert self.sink.taken == self.expected


def check_writing(data):
    """Write by a program."""
    Writing(Choices(data)).run()
