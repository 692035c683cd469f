# The opcodes of protocols 0 to 5 that plain values need.

cdef enum:
    MAX_DIGITS = 4300         # more take quadratic time to read; Python itself draws the line here
    MAX_FLOAT_LENGTH = 64


cdef int run_opcodes(PickleMachine* m) except -1:
    cdef Py_ssize_t nsteps = 0
    cdef int opcode
    while True:
        if unlikely(m.p == m.end):
            m.ran_past_end = 1
            return raise_malformed(m, "it ends without STOP")
        opcode = m.p[0]
        m.p += 1
        if opcode == OP_STOP:
            return 0
        if not (run_scalar(m, opcode) or run_string(m, opcode) or run_memo(m, opcode) or run_container(m, opcode)):
            return refuse_pickle(m,
                                 f"opcode {bytes([opcode])!r} at byte {m.p - m.start - 1} is of no use to plain values")
        nsteps += 1
        if unlikely(nsteps & SIGNAL_MASK == 0):
            handle_signals(m)


# The cursor.

cdef inline const unsigned char* take_data(PickleMachine* m, int64_t nbytes) except NULL:
    cdef const unsigned char* p = m.p
    if unlikely(not 0 <= nbytes <= m.end - p):
        raise_malformed(m, f"an opcode declares {nbytes} bytes, of which {m.end - p} are there" if nbytes >= 0
                        else f"negative length {nbytes}")
    m.p = p + nbytes
    return p


cdef inline int64_t take_number(PickleMachine* m, int nbytes) except? -1:
    # Of 1, 2 or 4 bytes.
    cdef const unsigned char* p = take_data(m, nbytes)
    if nbytes == 1:
        return p[0]
    if nbytes == 2:
        return p[0] | p[1] << 8
    return load_u32_le(p)


cdef const unsigned char* take_long_data(PickleMachine* m, Py_ssize_t* nbytes) except NULL:
    # After a length of eight bytes.
    cdef const unsigned char* p = take_data(m, 8)
    cdef uint64_t length = load_u32_le(p) | <uint64_t>load_u32_le(p + 4) << 32
    if length > <uint64_t>(m.end - m.p):
        raise_malformed(m, f"an opcode declares {length} bytes, of which {m.end - m.p} are there")
    nbytes[0] = <Py_ssize_t>length
    return take_data(m, nbytes[0])


cdef const unsigned char* take_line(PickleMachine* m, Py_ssize_t* nbytes) except NULL:
    cdef const unsigned char* start = m.p
    cdef const unsigned char* end = <const unsigned char*>memchr(start, c"\n", m.end - start)
    if end == NULL:
        raise_malformed(m, "a line has no end")
    nbytes[0] = end - start
    m.p = end + 1
    return start


# Scalars. What these functions return: whether the opcode is one of theirs.

cdef bint run_scalar(PickleMachine* m, int opcode) except -1:
    cdef Py_ssize_t nbytes
    cdef const unsigned char* p
    if opcode == OP_BININT1:
        push_flat(m, int_object(take_number(m, 1)))
    elif opcode == OP_BININT2:
        push_flat(m, int_object(take_number(m, 2)))
    elif opcode == OP_BININT:
        push_flat(m, int_object(<int32_t>take_number(m, 4)))
    elif opcode == OP_LONG1:
        nbytes = <Py_ssize_t>take_number(m, 1)
        push_flat(m, int_from_bytes_le(take_data(m, nbytes), nbytes))
    elif opcode == OP_LONG4:
        nbytes = <int32_t>take_number(m, 4)
        push_flat(m, int_from_bytes_le(take_data(m, nbytes), nbytes))
    elif opcode == OP_NONE:
        push_flat(m, decode_null())
    elif opcode == OP_NEWTRUE or opcode == OP_NEWFALSE:
        push_flat(m, decode_bool(b"\1" if opcode == OP_NEWTRUE else b"\0"))
    elif opcode == OP_BINFLOAT:
        push_flat(m, PyFloat_FromDouble(load_f64(take_data(m, 8))))
    elif opcode == OP_INT:
        p = take_line(m, &nbytes)
        if nbytes == 2 and p[0] == c"0" and (p[1] == c"0" or p[1] == c"1"):    # how protocols 0 and 1 write a bool
            push_flat(m, decode_bool(b"\1" if p[1] == c"1" else b"\0"))
        else:
            push_flat(m, int_of_digits(m, p, nbytes))
    elif opcode == OP_LONG:
        p = take_line(m, &nbytes)
        push_flat(m, int_of_digits(m, p, nbytes))
    elif opcode == OP_FLOAT:
        p = take_line(m, &nbytes)
        if nbytes > MAX_FLOAT_LENGTH:
            raise_malformed(m, f"a float has {nbytes} characters, more than {MAX_FLOAT_LENGTH}")
        push_flat(m, float_of_line(p, nbytes))
    else:
        return False
    return True


cdef PyObject* float_of_line(const unsigned char* p, Py_ssize_t nbytes) except NULL:
    line = p[:nbytes]
    return PyFloat_FromString(<PyObject*>line)


cdef PyObject* int_of_digits(PickleMachine* m, const unsigned char* p, Py_ssize_t nbytes) except NULL:
    # -?[0-9]{1,4300}L?
    cdef Py_ssize_t start = nbytes > 0 and p[0] == c"-"
    cdef Py_ssize_t end = nbytes - 1 if nbytes > 0 and p[nbytes - 1] == c"L" else nbytes
    cdef Py_ssize_t i
    cdef int64_t number = 0
    cdef bint is_number = 1 <= end - start <= MAX_DIGITS
    for i in range(start, end):
        if not c"0" <= p[i] <= c"9":
            is_number = False
            break
        if i - start < 18:
            number = 10 * number + (p[i] - c"0")
    if not is_number:
        raise_malformed(m, f"{p[:min(nbytes, 40)]!r} is not a number of 1 to {MAX_DIGITS} digits")
    if end - start <= 18:
        return int_object(-number if start else number)
    wide = int(p[:end])
    Py_INCREF(wide)
    return <PyObject*>wide


# Text and bytes.

cdef bint run_string(PickleMachine* m, int opcode) except -1:
    cdef Py_ssize_t nbytes = 0
    cdef const unsigned char* p
    if opcode == OP_BINUNICODE or opcode == OP_SHORT_BINUNICODE:
        nbytes = <Py_ssize_t>take_number(m, 4 if opcode == OP_BINUNICODE else 1)
        p = take_data(m, nbytes)
        push_flat(m, text_of(p, nbytes))
    elif opcode == OP_BINUNICODE8:
        p = take_long_data(m, &nbytes)
        push_flat(m, text_of(p, nbytes))
    elif opcode == OP_BINBYTES or opcode == OP_SHORT_BINBYTES:
        nbytes = <Py_ssize_t>take_number(m, 4 if opcode == OP_BINBYTES else 1)
        p = take_data(m, nbytes)
        push_flat(m, new_bytes(<const char*>p, nbytes))
    elif opcode == OP_BINBYTES8:
        p = take_long_data(m, &nbytes)
        push_flat(m, new_bytes(<const char*>p, nbytes))
    elif opcode == OP_SHORT_BINSTRING or opcode == OP_BINSTRING:
        nbytes = <Py_ssize_t>take_number(m, 1) if opcode == OP_SHORT_BINSTRING else <int32_t>take_number(m, 4)
        p = take_data(m, nbytes)
        push_flat(m, python2_text(p, nbytes))
    elif opcode == OP_STRING:
        p = take_line(m, &nbytes)
        push_flat(m, quoted_text(m, p, nbytes))
    elif opcode == OP_UNICODE:
        p = take_line(m, &nbytes)
        push_flat(m, PyUnicode_DecodeRawUnicodeEscape(<const char*>p, nbytes, NULL))
    else:
        return False
    return True


cdef PyObject* text_of(const unsigned char* p, Py_ssize_t nbytes) except NULL:
    if is_ascii(p, nbytes):
        return decode_ascii(p, nbytes)
    return PyUnicode_DecodeUTF8(<const char*>p, nbytes, b"surrogatepass")


cdef PyObject* python2_text(const unsigned char* p, Py_ssize_t nbytes) except NULL:
    # A str of Python 2: text where it is UTF-8, else bytes.
    cdef PyObject* text
    if is_ascii(p, nbytes):
        return decode_ascii(p, nbytes)
    try:
        return PyUnicode_DecodeUTF8(<const char*>p, nbytes, NULL)
    except UnicodeDecodeError:
        return new_bytes(<const char*>p, nbytes)


cdef PyObject* quoted_text(PickleMachine* m, const unsigned char* p, Py_ssize_t nbytes) except NULL:
    cdef unsigned char* out
    cdef Py_ssize_t nout = 0
    cdef Py_ssize_t i = 1
    if nbytes < 2 or (p[0] != c"'" and p[0] != c'"') or p[nbytes - 1] != p[0]:
        raise_malformed(m, "a string has no quotes around it")
    out = <unsigned char*>PyMem_Malloc(nbytes)
    if out == NULL:
        raise MemoryError
    try:
        while i < nbytes - 1:
            if p[i] != c"\\" or i == nbytes - 2:
                out[nout] = p[i]
                i += 1
            elif p[i + 1] == c"x" and i + 3 < nbytes - 1 and hex_digit(p[i + 2]) >= 0 and hex_digit(p[i + 3]) >= 0:
                out[nout] = <unsigned char>(hex_digit(p[i + 2]) << 4 | hex_digit(p[i + 3]))
                i += 4
            else:
                out[nout] = unescaped(m, p[i + 1])
                i += 2
            nout += 1
        return python2_text(out, nout)
    finally:
        PyMem_Free(out)


cdef int hex_digit(unsigned char digit) noexcept:
    # -1: not one.
    return digit - c"0" if c"0" <= digit <= c"9" else digit - c"a" + 10 if c"a" <= digit <= c"f" else -1


cdef unsigned char unescaped(PickleMachine* m, unsigned char letter) except 0:
    if letter == c"\\" or letter == c"'" or letter == c'"':
        return letter
    if letter == c"n":
        return c"\n"
    if letter == c"r":
        return c"\r"
    if letter == c"t":
        return c"\t"
    raise_malformed(m, f"unknown escape of {chr(letter)!a} in a string")


# The memo, and what steers the machine.

cdef bint run_memo(PickleMachine* m, int opcode) except -1:
    cdef int64_t number
    cdef const unsigned char* p
    if opcode == OP_BINPUT:
        put_memo(m, take_number(m, 1))
    elif opcode == OP_MEMOIZE:
        put_memo(m, m.nmemo)
    elif opcode == OP_LONG_BINPUT:
        put_memo(m, take_number(m, 4))
    elif opcode == OP_BINGET:
        get_memo(m, take_number(m, 1))
    elif opcode == OP_LONG_BINGET:
        get_memo(m, take_number(m, 4))
    elif opcode == OP_PUT or opcode == OP_GET:
        run_memo_line(m, opcode)
    elif opcode == OP_MARK:
        set_mark(m)
    elif opcode == OP_PROTO:
        number = take_number(m, 1)
        if number > 5:
            refuse_pickle(m, f"it is of protocol {number}")
    elif opcode == OP_FRAME:    # a hint for readers of files; its length still has to be true
        p = take_data(m, 8)
        if (load_u32_le(p) | <uint64_t>load_u32_le(p + 4) << 32) > <uint64_t>(m.end - m.p):
            raise_malformed(m, f"a frame declares {load_u32_le(p) | <uint64_t>load_u32_le(p + 4) << 32} bytes, "
                               f"of which {m.end - m.p} are there")
    else:
        return False
    return True


cdef int run_memo_line(PickleMachine* m, int opcode) except -1:
    cdef Py_ssize_t nbytes
    cdef int64_t number
    cdef const unsigned char* p = take_line(m, &nbytes)
    key = object_from_stolen(int_of_digits(m, p, nbytes))
    if int_to_i64(<PyObject*>key, &number):
        return put_memo(m, number) if opcode == OP_PUT else get_memo(m, number)
    if opcode == OP_PUT:
        return put_memo(m, -1)
    return raise_malformed(m, "it asks for an object under a number out of range")


# Containers and objects.

cdef bint run_container(PickleMachine* m, int opcode) except -1:
    if opcode == OP_EMPTY_TUPLE:
        push_tuple(m, m.nstack)
    elif OP_TUPLE1 <= opcode <= OP_TUPLE3:
        push_tuple(m, start_of_last(m, opcode - OP_TUPLE1 + 1))
    elif opcode == OP_TUPLE:
        push_tuple(m, start_of_mark(m))
    elif opcode == OP_REDUCE:
        call_name(m)
    elif opcode == OP_GLOBAL:
        push_global(m)
    elif opcode == OP_STACK_GLOBAL:
        push_stacked_name(m)
    elif opcode == OP_NEWOBJ:
        new_object(m)
    elif opcode == OP_BUILD:
        build_object(m)
    elif opcode == OP_EMPTY_LIST:
        push_list(m, take_list(m, m.nstack))
    elif opcode == OP_LIST:
        push_list(m, take_list(m, start_of_mark(m)))
    elif opcode == OP_APPEND:
        extend_list(m, start_of_last(m, 1))
    elif opcode == OP_APPENDS:
        extend_list(m, start_of_mark(m))
    elif opcode == OP_EMPTY_DICT:
        push_dict(m, take_list(m, m.nstack))
    elif opcode == OP_DICT:
        push_dict(m, take_list(m, start_of_mark(m)))
    elif opcode == OP_SETITEM:
        set_items(m, take_list(m, start_of_last(m, 2)))
    elif opcode == OP_SETITEMS:
        set_items(m, take_list(m, start_of_mark(m)))
    elif opcode == OP_EMPTY_SET:
        push_open_set(m)
    elif opcode == OP_ADDITEMS:
        extend_open_set(m, start_of_mark(m))
    elif opcode == OP_FROZENSET:
        push_frozenset(m, start_of_mark(m))
    else:
        return False
    return True


cdef int push_tuple(PickleMachine* m, Py_ssize_t start) except -1:
    cdef PyObject* made = take_tuple(m, start)
    return push_holder(m, made, with_own_size(m.contents_extent, made))


cdef int push_global(PickleMachine* m) except -1:
    cdef Py_ssize_t nmodule, nname
    cdef const unsigned char* module = take_line(m, &nmodule)
    text = module[:nmodule].decode("utf-8")
    cdef const unsigned char* name = take_line(m, &nname)
    return find_name(m, text, name[:nname].decode("utf-8"))


cdef int push_stacked_name(PickleMachine* m) except -1:
    cdef list both = take_list(m, start_of_last(m, 2))
    return find_name(m, both[0], both[1])


def safe_loads(data, *, bint containers=False):
    """Build the value of the plain types that a pickle of protocol 0 to 5 holds, one of Python 2 included.

    containers: of lists and dicts too. Raises ValueError for anything else: other types, broken bytes, bytes after
    the end, and pickles made to cost more than their size.

    >>> safe_loads(b"cdecimal\\nDecimal\\n(S'1.50'\\ntR.")
    Decimal('1.50')
    """
    cdef const unsigned char* p = <const unsigned char*>PyBytes_AS_STRING(<bytes?>data)
    cdef Py_ssize_t nbytes = PyBytes_GET_SIZE(data)
    cdef PyObject* value = recognise_none_or_int(p, nbytes)
    if value == NULL and not containers:
        value = recognise(p, nbytes)
    return read_pickle(p, nbytes, containers) if value == NULL else object_from_stolen(value)
