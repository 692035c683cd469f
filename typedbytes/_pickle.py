"""Pickles of plain value types: what type code 100 may hold unless the caller says otherwise.

Here belong the list of types, a pickler that writes only those, and a small machine that builds only those.
This file must not know TypedBytes: it takes an object and gives bytes, or the reverse. What always holds in it:

- nothing is imported, looked up or called by a name from the data: a name is a key of ``_BUILDERS`` or it is refused;
- no object is changed once it is complete, so no class and no value in use can be reached through BUILD;
- memory follows the bytes that are there, and time stays linear in them: see ``_Machine.spend``;
- containers count their levels as they are made and filled, and one more than ``MAX_DEPTH`` is refused at once: what walks
  them, hashing, comparing, printing or freeing, recurses on the C stack, and a thread's may be small;
- what comes out is of an exact type from the list, nested at most ``MAX_DEPTH`` levels.

What a name may be called with; each argument has exactly that type, and anything else is refused:

    set, frozenset          one list of values, not a set among them
    bytes                   nothing
    _codecs.encode          str, then "latin1" or "latin-1"
    complex                 float, float
    Decimal                 str
    date                    bytes of 4, of Python 2 a str
    time, datetime          bytes of 6 or 10, or such a str; then nothing, None or a timezone
    timedelta               int, int, int
    timezone                timedelta; then nothing or a str
    UUID                    nothing, by NEWOBJ or copy_reg._reconstructor(UUID, object, None); then once BUILD with a dict
                            of "int", an int of 128 bits, and at most "is_safe", which is 0, -1 or None
"""

import re
import struct
from datetime import date, datetime, time, timedelta, timezone
from decimal import Context, Decimal, InvalidOperation
from itertools import chain, groupby
from sys import getsizeof, hash_info
from types import FunctionType
from uuid import UUID, SafeUUID

MAX_DEPTH = 100
MAX_EQUAL_HASHES = 512

_NONE = type(None)
_PICKLED = frozenset({_NONE, int, Decimal, date, time, datetime, timedelta, timezone, set, frozenset, complex, UUID})
_ELEMENTS = _PICKLED - {set} | {bool, float, str, bytes, tuple}

_TOO_DEEP = f"it nests deeper than {MAX_DEPTH} levels"
_ODD_MAKING = "it makes an object in a way that plain values do not need"
_GO_ON = 'pass pickle="trust" for data of your own, or pickle="raw" for the bytes'


def safe_dumps(obj):
    """Pickle a value of the plain types by protocol 2, as Python 2 and 3 read it.

    Equal scalars give equal bytes, whoever shares their parts: nothing is memoised. Raises TypeError for anything else,
    subclasses included, because pickling those runs or names code of the user's.

    >>> safe_dumps(2**64).hex()
    '80028a090000000000000000012e'
    """
    if type(obj) not in _PICKLED:
        _refuse_type(obj)
    return b"\x80\x02" + _write(obj) + b"."


def safe_loads(data):
    """Build the value of the plain types that a pickle of protocol 0 to 5 holds, one of Python 2 included.

    Raises ValueError for anything else: other types, broken bytes, bytes after the end, and pickles made to cost
    more than their size.

    >>> safe_loads(b"cdecimal\\nDecimal\\n(S'1.50'\\ntR.")
    Decimal('1.50')
    """
    machine = _Machine(data)
    try:
        return machine.run()
    except (_Refused, MemoryError):
        raise
    except Exception as error:
        # The types of these vary with the Python version; the caller is promised one.
        reason = f"{type(error).__name__}: {_short(str(error))}"
    raise ValueError(f"broken pickle at byte {machine.offset}: {reason}; {_GO_ON}")


class _Refused(ValueError):
    """A pickle asks for what this machine does not do."""


# Writing: one function for each type that holds no values; what does is walked by a stack of our own, since that of a
# thread may be too small for a hundred levels.


def _write(value):
    parts, waiting = [], [(value, MAX_DEPTH)]  # what follows, last first: a value and the levels it may have; or bytes and None
    while waiting:
        value, nlevels = waiting.pop()
        if nlevels is None:
            parts.append(value)
        elif type(value) in _WRITERS:
            parts.append(_WRITERS[type(value)](value))
        elif type(value) in _BRACKETS:
            if not nlevels:
                raise TypeError(f"cannot pickle a value nested deeper than {MAX_DEPTH} levels")
            start, end = _BRACKETS[type(value)](len(value))
            if _WRITERS.keys() >= set(map(type, value)):
                parts += [start, _write_flat(value), end]
            else:
                parts.append(start)
                waiting.append((end, None))
                waiting.extend([(item, nlevels - 1) for item in value][::-1])
        else:
            _refuse_type(value)
    return b"".join(parts)


def _write_flat(values):
    return b"".join([_WRITERS.get(type(value), _refuse_type)(value) for value in values])


def _refuse_type(value):
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    raise TypeError(f'cannot pickle {kind} under the safe policy: pass pickle="trust" or default=')


def _write_int(value):
    if 0 <= value < 2**16:
        return b"K%c" % value if value < 256 else b"M" + value.to_bytes(2, "little")
    if -(2**31) <= value < 2**31:
        return b"J" + value.to_bytes(4, "little", signed=True)
    nbytes = (~value if value < 0 else value).bit_length() // 8 + 1
    head = b"\x8a%c" % nbytes if nbytes < 256 else b"\x8b" + nbytes.to_bytes(4, "little")
    return head + value.to_bytes(nbytes, "little", signed=True)


def _write_str(value):
    data = value.encode("utf-8", "surrogatepass")
    return b"X" + len(data).to_bytes(4, "little") + data


def _around_tuple(nitems):
    return (b"", (b")", b"\x85", b"\x86", b"\x87")[nitems]) if nitems < 4 else (b"(", b"t")


def _around_set(name):
    def around(nitems):
        start, end = _around_items(nitems, b"a", b"e")
        return name + b"]" + start, end + b"\x85R"

    return around


def _around_items(nitems, one, many):
    """Return what stands around items under the opcode for one or for many, as picklers do."""
    return (b"", one) if nitems == 1 else (b"(", many) if nitems else (b"", b"")


def _write_call(name, arguments):
    def write(value):
        values = arguments(value)
        start, end = _around_tuple(len(values))
        return name + start + _write_flat(values) + end + b"R"

    return write


def _state_arguments(value):
    # That of protocol 4 reads the same as that of protocol 2, and keeps the fold of a repeated hour.
    return value.__reduce_ex__(4)[1]


def _write_uuid(value):
    safety = getattr(value, "is_safe", None)
    if type(safety) is not SafeUUID:
        _refuse_type(value)
    state = ["int", value.int] if safety is SafeUUID.unknown else ["int", value.int, "is_safe", safety.value]
    start, end = _around_items(len(state) // 2, b"s", b"u")
    return b"cuuid\nUUID\n)\x81}" + start + _write_flat(state) + end + b"b"


# Protocol 2 has no bytes: text, and the codec that makes them of it; Python 2 gets its str.
_write_bytes = _write_call(b"c_codecs\nencode\n", lambda value: (value.decode("latin-1"), "latin1"))

_BRACKETS = {
    tuple: _around_tuple,
    set: _around_set(b"c__builtin__\nset\n"),
    frozenset: _around_set(b"c__builtin__\nfrozenset\n"),
}

_WRITERS = {
    _NONE: lambda value: b"N",
    bool: lambda value: b"\x88" if value else b"\x89",
    int: _write_int,
    float: lambda value: b"G" + struct.pack(">d", value),
    str: _write_str,
    bytes: lambda value: _write_bytes(value) if value else b"c__builtin__\nbytes\n)R",
    complex: _write_call(b"c__builtin__\ncomplex\n", lambda value: (value.real, value.imag)),
    Decimal: _write_call(b"cdecimal\nDecimal\n", lambda value: (str(value),)),
    date: _write_call(b"cdatetime\ndate\n", _state_arguments),
    time: _write_call(b"cdatetime\ntime\n", _state_arguments),
    datetime: _write_call(b"cdatetime\ndatetime\n", _state_arguments),
    timedelta: _write_call(b"cdatetime\ntimedelta\n", lambda value: (value.days, value.seconds, value.microseconds)),
    timezone: _write_call(b"cdatetime\ntimezone\n", _state_arguments),
    UUID: _write_uuid,
}


# Reading.


_NESTING = frozenset({tuple, frozenset, set})
_HASHED = frozenset({tuple, frozenset})


def _parts(level, kinds):
    """List the items inside the containers of these kinds, one level down."""
    return list(chain.from_iterable([item for item in level if type(item) in kinds]))


def _short(text):
    return ascii(text[:60])


def _refuse(what):
    raise _Refused(f"pickle refused: {what}; {_GO_ON}")


class _OpenSet(list):
    """The elements of a set that protocol 4 is still adding to."""


_MUTABLE = frozenset({list, dict, set, _OpenSet})

_NOTHING = frozenset()

# Their hash is reckoned from the whole of them each time that it is asked for.
_HASHED_ANEW = frozenset({int, Decimal})

# Hashes that nobody can choose: salted by the interpreter, or one value each.
_SALTED = frozenset({str, bytes, date, bool, _NONE})
_HASH_MODULUS = hash_info.modulus

# Comparisons linear in the size, in C.
_QUICK = _SALTED | {int, float, complex, timedelta, tuple}


def _hashes_to_itself(item):
    return type(item) is int and -_HASH_MODULUS < item < _HASH_MODULUS


class _Machine:
    """The pickle machine: a cursor over the data, a stack with marks, and a memo.

    The hazards are sharing and hashing. Shared tuples unfold to sizes exponential in the data, and every hash walks
    them; elements with equal hashes compare with each other, which is quadratic. Counting either in advance would
    need a size kept for every object, so both are charged when they happen, against a budget of bytes that grows
    with the data: a GET pays for the value as if it stood there again, a group of equal hashes pays the square of
    its size. Mutable containers cannot be shared at all, nor a tuple that holds one; that also rules out cycles.

    ``heights`` runs beside the stack: how many levels of containers are inside a value. It may end earlier; what it does
    not reach is flat. What holds nothing is flat too, and what holds something one higher than the highest of it.
    """

    def __init__(self, data):
        self.data = data
        self.offset = 0
        self.stack = []
        self.push = self.stack.append
        self.heights = bytearray()
        self.above = 0  # the height of a container of what was taken off the stack last
        self.marks = []
        self.memo = {}
        self.extents = {}  # memo key -> bytes and height, for containers that were read back
        # Small pickles get somewhat more for their bytes; not much more, since a stream may hold many of them.
        self.budget = (1 << 17) + min(1 << 22, 256 * len(data)) + 64 * len(data)

    def run(self):
        data, operation_of = self.data, _OPERATIONS.get
        opcode = b""
        while opcode != b".":
            opcode = data[self.offset : self.offset + 1]
            self.offset += 1
            operation_of(opcode, _no_operation)(self)
        return self.result()

    def result(self):
        (value,) = self.stack
        if self.marks:
            raise ValueError("a mark is left over")
        if self.offset != len(self.data):
            _refuse(f"{len(self.data) - self.offset} bytes follow its end")
        if type(value) is _OpenSet:
            value = self.make_set(set, value)
        self.check_plain(value)
        return value

    def check_plain(self, value):
        level, kinds = [value], _PICKLED | _ELEMENTS
        for _ in range(MAX_DEPTH):
            strange = {type(item) for item in level} - kinds
            if strange or any(type(item) is UUID and not hasattr(item, "int") for item in level):
                _refuse(f"it holds {' and '.join(sorted(kind.__name__ for kind in strange)) or 'an unfinished UUID'}")
            level, kinds = _parts(level, _NESTING), _ELEMENTS
            if not level:
                return
        _refuse(_TOO_DEEP)

    # The cursor.

    def take(self, nbytes):
        if not 0 <= nbytes <= len(self.data) - self.offset:
            raise EOFError(f"{nbytes} bytes wanted, {len(self.data) - self.offset} left")
        start = self.offset
        self.offset = start + nbytes
        return self.data[start : self.offset]

    def number(self, nbytes, signed=False):
        return int.from_bytes(self.take(nbytes), "little", signed=signed)

    def line(self):
        end = self.data.index(b"\n", self.offset)
        line = self.take(end - self.offset)
        self.offset += 1
        return line

    # The stack.

    def pop_from(self, start):
        items = self.stack[start:]
        del self.stack[start:]
        self.above = 1 if items else 0
        if len(self.heights) > start:
            self.above += max(self.heights[start:])
            del self.heights[start:]
        return items

    def pop_last(self, nitems):
        if nitems > len(self.stack):
            raise IndexError("stack underflow")
        return self.pop_from(len(self.stack) - nitems)

    def pop_marked(self):
        return self.pop_from(self.marks.pop())

    def lift(self, height):
        """Let the container on top be at least so high."""
        if height > MAX_DEPTH:
            _refuse(_TOO_DEEP)
        if height > 0:
            self.heights.extend(bytes(len(self.stack) - len(self.heights)))
            self.heights[-1] = max(self.heights[-1], height)

    def mark(self):
        if len(self.marks) == 2 * MAX_DEPTH:
            _refuse(_TOO_DEEP)
        self.marks.append(len(self.stack))

    def top(self, kind):
        if type(self.stack[-1]) is not kind:
            _refuse(f"it adds to an object of type {type(self.stack[-1]).__name__}")
        return self.stack[-1]

    def push_tuple(self, items):
        self.push(tuple(items))
        self.lift(self.above)

    def push_list(self, items):
        # Plain values hold no list; a set or frozenset is called with one.
        if not self.stack or type(self.stack[-1]) is not FunctionType:
            _refuse("it holds a list, which has a type code of its own")
        self.push(items)
        self.lift(self.above)

    def push_dict(self, items):
        # Nor a dict; the state of a UUID is one.
        if not self.stack or type(self.stack[-1]) is not UUID:
            _refuse("it holds a dict, which has a type code of its own")
        self.push({})
        self.set_items(items)

    def push_set(self):
        if self.stack:
            _refuse("it holds a set inside another value")
        self.push(_OpenSet())

    # The memo.

    def put(self, key):
        # What four bytes can name: larger keys could share their hashes.
        if not 0 <= key < 1 << 32:
            _refuse("it stores an object under a number out of range")
        if len(self.memo) > self.offset // 2:
            _refuse("it stores more objects than it can hold")
        self.memo[key] = self.stack[-1]
        self.extents.pop(key, None)

    def get(self, key):
        value = self.memo[key]
        if type(value) in _MUTABLE:
            _refuse(f"it shares a {type(value).__name__}")
        if type(value) in _HASHED:
            if key not in self.extents:
                self.extents[key] = self.measure_shared(value)
            nbytes, height = self.extents[key]
            self.spend(nbytes)
            self.push(value)
            self.lift(height)
            return
        if type(value) in _HASHED_ANEW:
            self.spend(getsizeof(value))
        self.push(value)

    def spend(self, nbytes):
        self.budget -= nbytes
        if self.budget < 0:
            _refuse("its shared or colliding parts cost more than its size")

    def levels_of(self, values):
        """Give values, then their parts, level by level, each with its bytes; pay for walking them."""
        level = values
        while level:
            nbytes = sum(map(getsizeof, level))
            self.spend(nbytes + 512)  # a level has its price even where it holds next to nothing
            yield level, nbytes
            level = _parts(level, _HASHED)

    def measure_shared(self, value):
        """Return the bytes of a value with all its parts, and its height."""
        nbytes, height = 0, -1
        for level, nbytes_here in self.levels_of([value]):
            if not _MUTABLE.isdisjoint(map(type, level)):
                _refuse("it shares a tuple that holds a list or dict")
            nbytes += nbytes_here
            height += 1
        return nbytes, height

    # Sets.

    def make_frozenset(self, items):
        # One empty frozenset serves all: a new one each would hold a hundred times the bytes that ask for it.
        return self.make_set(frozenset, items) if items else _NOTHING

    def make_set(self, kind, items):
        if len(items) > 1:
            self.check_hashes(items)
        return kind(items)

    def check_hashes(self, items):
        odd = [item for item in items if type(item) not in _SALTED and not _hashes_to_itself(item)]
        if len(set(map(hash, odd))) == len(odd):
            return
        for _, equals in groupby(sorted(odd, key=hash), key=hash):
            group = list(equals)
            if len(group) > MAX_EQUAL_HASHES:
                _refuse(f"more than {MAX_EQUAL_HASHES} elements of a set share one hash value")
            if len(group) > 1:
                self.pay_comparisons(group)

    def pay_comparisons(self, group):
        # Two quick values compare in steps of the smaller one's size, any two others at worst in the product of both:
        # a frozenset looks up each element of the other, a Decimal converts an int by schoolbook division.
        size, kinds = 0, set()
        for level, _ in self.levels_of(group):
            size += len(level) + sum([getsizeof(item) for item in level if type(item) not in _HASHED]) // 16
            kinds.update(map(type, level))
        self.spend(size * (len(group) if kinds <= _QUICK else size))

    # Objects.

    def find(self, module, name):
        builder = _BUILDERS.get(f"{_of_type(str, module)}.{_of_type(str, name)}")
        if builder is None:
            _refuse(f"it asks for {_short(module)}.{_short(name)}")
        self.push(builder)

    def call(self):
        builder, arguments = self.pop_last(2)
        if type(builder) is not FunctionType or type(arguments) is not tuple:
            _refuse(f"it calls an object of type {type(builder).__name__}")
        height = self.above - 2  # that of the list, for a set; the pair of both and the arguments are one level each
        value = builder(self, *arguments)
        self.push(value)
        if type(value) in _NESTING:
            self.lift(height)

    def new(self):
        builder, arguments = self.pop_last(2)
        if builder is not _blank_uuid or arguments != ():
            _refuse(_ODD_MAKING)
        self.push(_blank_uuid(self))

    def build(self):
        (state,) = self.pop_last(1)
        target = self.top(UUID)
        if hasattr(target, "int") or type(state) is not dict:
            _refuse("it changes an object that is complete")
        target.__setstate__(_uuid_state(state))

    def set_items(self, items):
        target = self.top(dict)
        if len(items) % 2 or any(type(key) is not str for key in items[::2]):
            _refuse("the state of an object is not by names")
        self.lift(self.above)
        target.update(zip(items[::2], items[1::2]))


# Builders: what a name in the data stands for. Each takes the machine and the arguments of the pickle.


def _build_set(machine, items):
    return machine.make_set(set, _of_type(list, items))


def _build_frozenset(machine, items):
    return machine.make_frozenset(_of_type(list, items))


def _build_decimal(machine, text):
    return Decimal(_to_copy(machine, text), _TRAPPING)


# Under the caller's context, which may trap nothing, bad text would become a NaN.
_TRAPPING = Context(traps=[InvalidOperation])


def _build_date(machine, state):
    return date(*struct.unpack(">HBB", _state(state)))


def _build_time(machine, state, tzinfo=None):
    _check_zone(tzinfo)
    hour, minute, second, microsecond = struct.unpack(">BBB3s", _state(state))
    microsecond = int.from_bytes(microsecond, "big")
    return time(hour & 127, minute, second, microsecond, tzinfo, fold=hour >> 7)


def _build_datetime(machine, state, tzinfo=None):
    _check_zone(tzinfo)
    # The constructors of the datetime module trust a state; called with numbers they check them.
    year, month, *clock, microsecond = struct.unpack(">HBBBBB3s", _state(state))
    microsecond = int.from_bytes(microsecond, "big")
    return datetime(year, month & 127, *clock, microsecond, tzinfo, fold=month >> 7)


def _check_zone(tzinfo):
    if tzinfo is not None:
        _of_type(timezone, tzinfo)


def _build_timedelta(machine, days, seconds, microseconds):
    return timedelta(_of_type(int, days), _of_type(int, seconds), _of_type(int, microseconds))


def _build_timezone(machine, offset, *name):
    return timezone(_of_type(timedelta, offset), *[_of_type(str, text) for text in name])


def _build_complex(machine, real, imag):
    return complex(_of_type(float, real), _of_type(float, imag))


def _build_bytes(machine):
    return b""


def _build_encoded(machine, text, encoding):
    # How Python 3 writes bytes for protocols that have none.
    if _of_type(str, encoding) not in ("latin1", "latin-1"):
        _refuse(f"it encodes text as {_short(encoding)}")
    return _to_copy(machine, text).encode("latin-1")


def _to_copy(machine, text):
    # The same text may go into many calls: each pays for what it makes, memory being dearer than time.
    machine.spend(8 * len(_of_type(str, text)))
    return text


def _blank_uuid(machine):
    return UUID.__new__(UUID)


def _build_object(machine):
    return _refuse("it asks for a bare object")


def _reconstruct(machine, builder, base, state):
    if (builder, base, state) != (_blank_uuid, _build_object, None):
        _refuse(_ODD_MAKING)
    return _blank_uuid(machine)


def _uuid_state(state):
    number, safety = _of_type(int, state["int"]), state.get("is_safe")
    if not 0 <= number < 1 << 128:
        _refuse("it holds a UUID out of range")
    if safety is not None and _of_type(int, safety) not in (0, -1) or not state.keys() <= {"int", "is_safe"}:
        _refuse("it gives a UUID what no UUID has")
    return {"int": number, "is_safe": safety}


def _of_type(kind, value):
    if type(value) is not kind:
        _refuse(f"it gives a {type(value).__name__} where a {kind.__name__} belongs")
    return value


def _state(value):
    # Packed numbers. Those of Python 2 are a str; where it happened to be UTF-8 it was read as text.
    return value if type(value) is bytes else _of_type(str, value).encode("utf-8")


_BUILDERS = {
    "__builtin__.bytes": _build_bytes,
    "__builtin__.complex": _build_complex,
    "__builtin__.frozenset": _build_frozenset,
    "__builtin__.object": _build_object,
    "__builtin__.set": _build_set,
    "_codecs.encode": _build_encoded,
    "builtins.complex": _build_complex,
    "builtins.frozenset": _build_frozenset,
    "builtins.set": _build_set,
    "copy_reg._reconstructor": _reconstruct,
    "datetime.date": _build_date,
    "datetime.datetime": _build_datetime,
    "datetime.time": _build_time,
    "datetime.timedelta": _build_timedelta,
    "datetime.timezone": _build_timezone,
    "decimal.Decimal": _build_decimal,
    "uuid.UUID": _blank_uuid,
}


# Opcodes: one function each, named by what it reads.


def _no_operation(machine):
    opcode = machine.data[machine.offset - 1 : machine.offset]
    if not opcode:
        raise EOFError("the end is missing")
    _refuse(f"opcode {opcode!r} at byte {machine.offset - 1} is of no use to plain values")


def _stop(machine):
    """Leave the rest to the loop, which ends here."""


def _protocol(machine):
    version = machine.number(1)
    if version > 5:
        _refuse(f"it is of protocol {version}")


def _frame(machine):
    # A frame is a hint for readers of files; its length still has to be true.
    nbytes = machine.number(8)
    if nbytes > len(machine.data) - machine.offset:
        raise EOFError(f"a frame of {nbytes} bytes")


def _digits(line):
    if not _NUMBER(line):
        raise ValueError(f"{_short(str(line))} is not a number")
    return int(line.rstrip(b"L"))


def _int_line(machine):
    # I00 and I01 are how protocols 0 and 1 write a bool.
    line = machine.line()
    return _BOOLS[line] if line in _BOOLS else _digits(line)


# More digits take quadratic time to read; Python itself draws the line here.
_NUMBER = re.compile(rb"-?[0-9]{1,4300}L?").fullmatch

_BOOLS = {b"00": False, b"01": True}


def _float_line(machine):
    line = machine.line()
    if len(line) > 64:
        raise ValueError("a float of more than 64 characters")
    return float(line)


def _quoted_line(machine):
    line = machine.line()
    if not re.fullmatch(rb"(['\"]).*\1", line):
        raise ValueError("a string without quotes")
    return _python2_str(re.sub(rb"\\(x[0-9a-f]{2}|.)", _unescape, line[1:-1]))


def _unescape(match):
    escape = match[1]
    return bytes.fromhex(escape[1:].decode()) if len(escape) == 3 else _ESCAPES[escape]


_ESCAPES = {b"\\": b"\\", b"'": b"'", b'"': b'"', b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def _python2_str(data):
    """Read a str of Python 2: text where it is UTF-8, else bytes."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def _text(machine, nbytes):
    return machine.take(nbytes).decode("utf-8", "surrogatepass")


def _extend(machine, kind, items):
    machine.top(kind).extend(items)
    machine.lift(machine.above)


def _push_frozenset(machine):
    items = machine.pop_marked()
    height = machine.above
    machine.push(machine.make_frozenset(items))
    machine.lift(height)


_OPERATIONS = {
    # scalars
    b"N": lambda m: m.push(None),
    b"\x88": lambda m: m.push(True),
    b"\x89": lambda m: m.push(False),
    b"I": lambda m: m.push(_int_line(m)),
    b"L": lambda m: m.push(_digits(m.line())),
    b"J": lambda m: m.push(m.number(4, signed=True)),
    b"K": lambda m: m.push(m.take(1)[0]),
    b"M": lambda m: m.push(m.number(2)),
    b"\x8a": lambda m: m.push(m.number(m.number(1), signed=True)),
    b"\x8b": lambda m: m.push(m.number(m.number(4, signed=True), signed=True)),
    b"F": lambda m: m.push(_float_line(m)),
    b"G": lambda m: m.push(struct.unpack(">d", m.take(8))[0]),
    # str of Python 2, text, bytes
    b"S": lambda m: m.push(_quoted_line(m)),
    b"T": lambda m: m.push(_python2_str(m.take(m.number(4, signed=True)))),
    b"U": lambda m: m.push(_python2_str(m.take(m.number(1)))),
    b"V": lambda m: m.push(m.line().decode("raw-unicode-escape")),
    b"X": lambda m: m.push(_text(m, m.number(4))),
    b"\x8c": lambda m: m.push(_text(m, m.number(1))),
    b"\x8d": lambda m: m.push(_text(m, m.number(8))),
    b"B": lambda m: m.push(m.take(m.number(4))),
    b"C": lambda m: m.push(m.take(m.number(1))),
    b"\x8e": lambda m: m.push(m.take(m.number(8))),
    # tuples
    b")": lambda m: m.push(()),
    b"\x85": lambda m: m.push_tuple(m.pop_last(1)),
    b"\x86": lambda m: m.push_tuple(m.pop_last(2)),
    b"\x87": lambda m: m.push_tuple(m.pop_last(3)),
    b"t": lambda m: m.push_tuple(m.pop_marked()),
    # lists and dicts
    b"]": lambda m: m.push_list(m.pop_last(0)),
    b"l": lambda m: m.push_list(m.pop_marked()),
    b"a": lambda m: _extend(m, list, m.pop_last(1)),
    b"e": lambda m: _extend(m, list, m.pop_marked()),
    b"}": lambda m: m.push_dict(m.pop_last(0)),
    b"d": lambda m: m.push_dict(m.pop_marked()),
    b"s": lambda m: m.set_items(m.pop_last(2)),
    b"u": lambda m: m.set_items(m.pop_marked()),
    # sets
    b"\x8f": _Machine.push_set,
    b"\x90": lambda m: _extend(m, _OpenSet, m.pop_marked()),
    b"\x91": _push_frozenset,
    # objects
    b"c": lambda m: m.find(m.line().decode("utf-8"), m.line().decode("utf-8")),
    b"\x93": lambda m: m.find(*m.pop_last(2)),
    b"R": _Machine.call,
    b"\x81": _Machine.new,
    b"b": _Machine.build,
    # the memo and the machine
    b"(": _Machine.mark,
    b"p": lambda m: m.put(_digits(m.line())),
    b"q": lambda m: m.put(m.number(1)),
    b"r": lambda m: m.put(m.number(4)),
    b"\x94": lambda m: m.put(len(m.memo)),
    b"g": lambda m: m.get(_digits(m.line())),
    b"h": lambda m: m.get(m.number(1)),
    b"j": lambda m: m.get(m.number(4)),
    b".": _stop,
    b"\x80": _protocol,
    b"\x95": _frame,
}
