# Objects: what a name in a pickle is, and what it may be called with.
# Each argument has exactly that type, and anything else is refused:
#
#     set, frozenset          one list of values, not a set among them
#     bytes                   nothing
#     _codecs.encode          str, then "latin1" or "latin-1"
#     complex                 float, float
#     Decimal                 str
#     date                    bytes of 4, of Python 2 a str
#     time, datetime          bytes of 6 or 10, or such a str; then nothing, None or a timezone
#     timedelta               int, int, int
#     timezone                timedelta; then nothing or a str
#     UUID                    nothing, by NEWOBJ or copy_reg._reconstructor(UUID, object, None); then once BUILD with a
#                             dict of "int", an int of 128 bits, and at most "is_safe", which is 0, -1 or None
#
# The other plain values have opcodes of their own: None, bool, int, float, str, bytes and tuple.
# A tuple is not a value by itself.

cdef enum NameKind:
    NAME_BYTES
    NAME_COMPLEX
    NAME_FROZENSET
    NAME_OBJECT
    NAME_SET
    NAME_ENCODE
    NAME_RECONSTRUCT
    NAME_DATE
    NAME_DATETIME
    NAME_TIME
    NAME_DELTA
    NAME_ZONE
    NAME_DECIMAL
    NAME_UUID


cdef class PickledName:
    # A name on the stack.
    cdef NameKind kind


cdef class OpenSet:
    # The elements of a set that protocol 4 is still adding to.
    cdef list items

    def __hash__(self):
        raise TypeError("unhashable type: 'set'")


cdef PickledName new_name(NameKind kind):
    cdef PickledName name = PickledName.__new__(PickledName)
    name.kind = kind
    return name

cdef dict NAMES = {
    "__builtin__.bytes": new_name(NAME_BYTES),
    "__builtin__.complex": new_name(NAME_COMPLEX),
    "__builtin__.frozenset": new_name(NAME_FROZENSET),
    "__builtin__.object": new_name(NAME_OBJECT),
    "__builtin__.set": new_name(NAME_SET),
    "_codecs.encode": new_name(NAME_ENCODE),
    "builtins.complex": new_name(NAME_COMPLEX),
    "builtins.frozenset": new_name(NAME_FROZENSET),
    "builtins.set": new_name(NAME_SET),
    "copy_reg._reconstructor": new_name(NAME_RECONSTRUCT),
    "datetime.date": new_name(NAME_DATE),
    "datetime.datetime": new_name(NAME_DATETIME),
    "datetime.time": new_name(NAME_TIME),
    "datetime.timedelta": new_name(NAME_DELTA),
    "datetime.timezone": new_name(NAME_ZONE),
    "decimal.Decimal": new_name(NAME_DECIMAL),
    "uuid.UUID": new_name(NAME_UUID),
}


cdef int find_name(PickleMachine* m, object module, object name) except -1:
    expect_kind(m, str, module)
    expect_kind(m, str, name)
    found = NAMES.get(f"{module}.{name}")
    if found is None:
        return refuse_pickle(m, f"it asks for {shortened(module)}.{shortened(name)}")
    Py_INCREF(found)
    return push_slot(m, <PyObject*>found, HOLDS_NAME)


cdef int expect_kind(PickleMachine* m, type kind, object value) except -1:
    if type(value) is not kind:
        return refuse_pickle(m, f"it gives a {name_of_kind(value)} where a {kind.__name__} belongs")
    return 0


# Calls.

cdef int call_name(PickleMachine* m) except -1:
    cdef Py_ssize_t start = start_of_last(m, 2)
    cdef uint64_t extent = m.extents[start + 1]
    cdef object name = <object>m.stack[start]
    cdef object arguments = <object>m.stack[start + 1]
    cdef PyObject* value
    if type(name) is not PickledName or type(arguments) is not tuple:
        return refuse_pickle(m, f"it calls an object of type {name_of_kind(name)}")
    drop_slots(m, start)
    made = call_constructor(m, (<PickledName>name).kind, <tuple>arguments)
    value = <PyObject*>made
    Py_INCREF(made)
    if type(made) is not frozenset and type(made) is not set:
        return push_flat(m, value)
    return push_set(m, value, extent_of_list(extent, <PyObject*>arguments))


cdef uint64_t extent_of_list(uint64_t extent, PyObject* arguments) except? 1:
    # What the only list in a tuple holds, by the extent of the tuple:
    # the values of a set are hashable, and hold no list.
    cdef uint64_t nbytes = (extent >> SIZE_SHIFT) - <uint64_t>size_of(arguments) - MUTABLE_SIZE
    return nbytes << SIZE_SHIFT | extent & HOLDS_NAME | (extent & LEVELS) - 1


cdef int push_set(PickleMachine* m, PyObject* value, uint64_t extent) except -1:
    # A complete one, with the extent of what it holds. Steals it.
    return push_holder(m, value,
                       with_own_size(extent, value) if Py_TYPE(value) == &PyFrozenSet_Type else of_mutable(extent))


cdef inline uint64_t of_mutable(uint64_t extent) noexcept:
    # The extent of a list, dict or set whose contents have this extent.
    return extent + (<uint64_t>MUTABLE_SIZE << SIZE_SHIFT) | HOLDS_MUTABLE


cdef object call_constructor(PickleMachine* m, NameKind kind, tuple arguments):
    if kind == NAME_SET or kind == NAME_FROZENSET:
        expect_count(m, arguments, 1, 1)
        expect_kind(m, list, arguments[0])
        return set_of(m, <list>arguments[0]) if kind == NAME_SET else frozenset_of(m, <list>arguments[0])
    if kind == NAME_ENCODE:
        return encoded_text(m, arguments)
    if kind == NAME_DECIMAL:
        expect_count(m, arguments, 1, 1)
        bind_decimal()
        return decimal_from_text(text_to_copy(m, arguments[0]))
    if kind == NAME_UUID or kind == NAME_RECONSTRUCT:
        return blank_uuid(m, kind, arguments)
    if kind == NAME_COMPLEX:
        expect_count(m, arguments, 2, 2)
        expect_kind(m, float, arguments[0])
        expect_kind(m, float, arguments[1])
        return complex(arguments[0], arguments[1])
    if kind == NAME_BYTES:
        expect_count(m, arguments, 0, 0)
        return b""
    if kind == NAME_OBJECT:
        expect_count(m, arguments, 0, 0)
        refuse_pickle(m, "it asks for a bare object")
    bind_datetime()
    if kind == NAME_DELTA:
        return timedelta_of(m, arguments)
    if kind == NAME_ZONE:
        return timezone_of(m, arguments)
    return date_or_time_of(m, kind, arguments)


cdef int expect_count(PickleMachine* m, tuple arguments, Py_ssize_t least, Py_ssize_t most) except -1:
    if not least <= len(arguments) <= most:
        wanted = least if least == most else f"{least} to {most}"
        return raise_malformed(m, f"a constructor is given {len(arguments)} arguments, not {wanted}")
    return 0


cdef object text_to_copy(PickleMachine* m, object text):
    # The same text may go into many calls: each pays for what it makes, memory being dearer than time.
    expect_kind(m, str, text)
    charge(m, 8 * len(<str>text))
    return text


cdef object encoded_text(PickleMachine* m, tuple arguments):
    # How Python 3 writes bytes for protocols that have none.
    expect_count(m, arguments, 2, 2)
    text, encoding = arguments
    expect_kind(m, str, encoding)
    if encoding not in ("latin1", "latin-1"):
        refuse_pickle(m, f"it encodes text as {shortened(encoding)}")
    return (<str>text_to_copy(m, text)).encode("latin-1")


# Dates and times. Their state is packed numbers; that of Python 2 is a str,
# which was read as text where it happened to be UTF-8.

cdef const unsigned char* state_of(PickleMachine* m, object value, Py_ssize_t nbytes, list kept) except NULL:
    # `kept` holds what is made.
    if type(value) is not bytes:
        expect_kind(m, str, value)
        value = (<str>value).encode("utf-8")
        kept.append(value)
    if PyBytes_GET_SIZE(value) != nbytes:
        raise_malformed(m, f"the state of a date or time has {PyBytes_GET_SIZE(value)} bytes, not {nbytes}")
    return <const unsigned char*>PyBytes_AS_STRING(value)


cdef object date_or_time_of(PickleMachine* m, NameKind kind, tuple arguments):
    # The constructors of the datetime module trust a state; given numbers they check them.
    cdef const unsigned char* s
    cdef PyObject* value
    cdef PyObject* zone
    cdef list kept = []
    expect_count(m, arguments, 1, 1 if kind == NAME_DATE else 2)
    tzinfo = arguments[1] if len(arguments) == 2 else None
    if tzinfo is not None:
        expect_kind(m, Timezone, tzinfo)
    zone = <PyObject*>tzinfo
    if kind == NAME_DATE:
        s = state_of(m, arguments[0], 4, kept)
        value = PyDateTimeAPI.Date_FromDate(s[0] << 8 | s[1], s[2], s[3], DATE_TYPE)
    elif kind == NAME_TIME:
        s = state_of(m, arguments[0], 6, kept)
        value = PyDateTimeAPI.Time_FromTimeAndFold(s[0] & 127, s[1], s[2], load_microsecond(s + 3), zone, s[0] >> 7,
                                                   TIME_TYPE)
    else:
        s = state_of(m, arguments[0], 10, kept)
        value = PyDateTimeAPI.DateTime_FromDateAndTimeAndFold(
            s[0] << 8 | s[1], s[2] & 127, s[3], s[4], s[5], s[6], load_microsecond(s + 7), zone, s[2] >> 7,
            DATETIME_TYPE)
    return object_from_stolen(value)


cdef object timedelta_of(PickleMachine* m, tuple arguments):
    expect_count(m, arguments, 3, 3)
    for number in arguments:
        expect_kind(m, int, number)
    return (<object>DELTA_TYPE)(arguments[0], arguments[1], arguments[2])


cdef object timezone_of(PickleMachine* m, tuple arguments):
    expect_count(m, arguments, 1, 2)
    expect_kind(m, <type>(<object>DELTA_TYPE), arguments[0])
    for name in arguments[1:]:
        expect_kind(m, str, name)
    return Timezone(*arguments)


# UUIDs: a blank one, then its state.

cdef int refuse_making(PickleMachine* m) except -1:
    return refuse_pickle(m, "it makes an object in a way that plain values do not need")


cdef object blank_uuid(PickleMachine* m, NameKind kind, tuple arguments):
    if kind == NAME_UUID:
        expect_count(m, arguments, 0, 0)
    else:
        expect_count(m, arguments, 3, 3)
        if not is_name(arguments[0], NAME_UUID) or not is_name(arguments[1], NAME_OBJECT) or arguments[2] is not None:
            refuse_making(m)
    bind_uuid()
    value = object_from_stolen(new_uuid())
    m.nblank += 1
    return value


cdef bint is_name(object value, NameKind kind) except -1:
    return type(value) is PickledName and (<PickledName>value).kind == kind


cdef int new_object(PickleMachine* m) except -1:
    cdef Py_ssize_t start = start_of_last(m, 2)
    cdef object arguments = <object>m.stack[start + 1]
    if not is_name(<object>m.stack[start], NAME_UUID) or type(arguments) is not tuple or len(<tuple>arguments):
        return refuse_making(m)
    drop_slots(m, start)
    value = blank_uuid(m, NAME_UUID, ())
    Py_INCREF(value)
    return push_flat(m, <PyObject*>value)


cdef int build_object(PickleMachine* m) except -1:
    cdef Py_ssize_t start = start_of_last(m, 1)
    cdef object state = <object>m.stack[start]
    cdef PyObject* value
    cdef int64_t level
    cdef bint is_known = True
    drop_slots(m, start)
    bind_uuid()
    value = expect_below(m, start, UUID_TYPE)
    if hasattr(<object>value, "int") or type(state) is not dict:
        return refuse_pickle(m, "it changes an object that is complete")
    number = (<dict>state).get("int")
    if number is None:
        return raise_malformed(m, "the state of a UUID has no int")
    expect_kind(m, int, number)
    if not 0 <= number < UUID_LIMIT:
        return refuse_pickle(m, "it holds a UUID out of range")
    safety = (<dict>state).get("is_safe")
    if safety is not None:
        expect_kind(m, int, safety)
        is_known = int_to_i64(<PyObject*>safety, &level) and -1 <= level <= 0
    if not is_known or len(<dict>state) != 1 + ("is_safe" in <dict>state):
        return refuse_pickle(m, "it gives a UUID what no UUID has")
    Py_INCREF(number)
    finish_uuid(value, <PyObject*>number, SAFE_UUID(safety))
    m.nblank -= 1
    return 0

UUID_LIMIT = 1 << 128


# Lists and dicts: what sets are called with, and the state of a UUID. Plain values hold neither, unless the caller
# takes containers.

cdef int push_list(PickleMachine* m, list items) except -1:
    if not m.takes_containers and (not m.nstack or Py_TYPE(m.stack[m.nstack - 1]) != <PyTypeObject*>PickledName):
        return refuse_pickle(m, "it holds a list, which has a type code of its own")
    Py_INCREF(items)
    return push_holder(m, <PyObject*>items, of_mutable(m.contents_extent))


cdef int push_dict(PickleMachine* m, list items) except -1:
    bind_uuid()
    if not m.takes_containers and (not m.nstack or Py_TYPE(m.stack[m.nstack - 1]) != UUID_TYPE):
        return refuse_pickle(m, "it holds a dict, which has a type code of its own")
    made = {}
    Py_INCREF(made)
    push_slot(m, <PyObject*>made, of_mutable(0))
    return set_items(m, items)


cdef int set_items(PickleMachine* m, list items) except -1:
    cdef Py_ssize_t i
    cdef object target = <object>expect_below(m, m.nstack, &PyDict_Type)
    cdef bint is_named = len(items) % 2 == 0
    for i in range(0, len(items), 2):
        is_named = is_named and (type(items[i]) is str or (m.takes_containers and has_own_hash(items[i])))
    if not is_named:
        return refuse_pickle(m, "the keys of a dict are not text or small integers" if m.takes_containers
                             else "the state of an object is not by names")
    add_to_top_extent(m, m.contents_extent)
    for i in range(0, len(items), 2):
        (<dict>target)[items[i]] = items[i + 1]
    return 0


cdef bint has_own_hash(object key) except -1:
    # A hash that is not to be chosen, or that is the number itself.
    cdef int64_t number
    if type(key) is int:
        return int_to_i64(<PyObject*>key, &number) and -(<int64_t>1 << 60) < number < <int64_t>1 << 60
    return key is None or type(key) is bytes or type(key) is bool


cdef int push_open_set(PickleMachine* m) except -1:
    cdef OpenSet opened
    if m.nstack:
        return refuse_pickle(m, "it holds a set inside another value")
    opened = OpenSet.__new__(OpenSet)
    opened.items = []
    Py_INCREF(opened)
    return push_slot(m, <PyObject*>opened, of_mutable(0))


cdef int extend_list(PickleMachine* m, Py_ssize_t start) except -1:
    move_to_list(m, <list><object>expect_below(m, start, &PyList_Type), start)
    return add_to_top_extent(m, m.contents_extent)


cdef int extend_open_set(PickleMachine* m, Py_ssize_t start) except -1:
    move_to_list(m, (<OpenSet><object>expect_below(m, start, <PyTypeObject*>OpenSet)).items, start)
    return add_to_top_extent(m, m.contents_extent)


cdef int push_frozenset(PickleMachine* m, Py_ssize_t start) except -1:
    cdef list items = take_list(m, start)
    cdef uint64_t extent = m.contents_extent & ~<uint64_t>HOLDS_MUTABLE
    made = frozenset_of(m, items)
    Py_INCREF(made)
    return push_set(m, <PyObject*>made, extent)
