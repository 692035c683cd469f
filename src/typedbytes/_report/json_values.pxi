# Arrays, objects and tags of JSON as encoded values; see json_records.pxi.

cdef enum:
    COMPARED_NAMES = 16       # of an object; more are in a set

cdef enum Tag:    # in the order of TAG_NAMES
    TAG_BYTES, TAG_BYTE, TAG_BOOL, TAG_LONG, TAG_FLOAT, TAG_DOUBLE, TAG_STRING, TAG_VECTOR, TAG_MAP, TAG_WRITABLE
    TAG_EXT, TAG_SHORT, NO_TAG

cdef const char* TAG_TEXTS[NO_TAG]
cdef Py_ssize_t TAG_NBYTES[NO_TAG]
for code in range(NO_TAG):
    TAG_TEXTS[code], TAG_NBYTES[code] = TAG_NAMES[code], len(TAG_NAMES[code])


cdef const unsigned char* read_array(JsonText* j, const unsigned char* p, int code) except? NULL:
    # A LIST or a VECTOR; of a MAP each item is an array of a key and a value.
    cdef Py_ssize_t mark = written(&j.out), nitems = 0
    j.depth += 1
    p = after_char(j, p, c"[") if j.depth <= MAX_JSON_DEPTH else not_json(j, p)
    if p == NULL:
        return NULL
    reserve(&j.out, 5)
    j.out.cursor[0] = <unsigned char>code
    j.out.cursor += 1 if code == LIST else 5
    while p == j.end or nitems or p[0] != c"]":
        p = read_two(j, p) if code == MAP else read_json(j, p)
        if p == NULL:
            return NULL
        nitems += 1
        p = after_space(j, p)
        if p < j.end and p[0] == c"]":
            break
        p = after_char(j, p, c",")
        if p == NULL:
            return NULL
    if code == LIST:
        append_byte_of(&j.out, MARKER)
    elif nitems > INT32_MAX:
        return not_json(j, p)
    else:
        store_i32(j.out.start + mark + 1, <int32_t>nitems)
    j.depth -= 1
    return p + 1


cdef const unsigned char* read_two(JsonText* j, const unsigned char* p) except? NULL:
    p = after_char(j, p, c"[")
    p = read_json(j, p) if p != NULL else NULL
    p = after_char(j, p, c",") if p != NULL else NULL
    p = read_json(j, p) if p != NULL else NULL
    return end_of_array(j, p)


cdef const unsigned char* end_of_array(JsonText* j, const unsigned char* p) noexcept:
    if p == NULL:
        return NULL
    p = after_space(j, p)
    return p + 1 if p < j.end and p[0] == c"]" else not_json(j, p)


cdef const unsigned char* read_object(JsonText* j, const unsigned char* p) except? NULL:
    cdef Py_ssize_t names[COMPARED_NAMES]    # offsets of their values in the output
    cdef Py_ssize_t mark = written(&j.out), nmembers = 0, name, i
    cdef const unsigned char* end
    cdef Tag tag
    cdef bint is_again = False
    cdef set many = None
    j.depth += 1
    if j.depth > MAX_JSON_DEPTH + 1:    # the last may be a tag of a scalar
        return not_json(j, p)
    reserve(&j.out, 5)
    j.out.cursor[0] = MAP
    j.out.cursor += 5
    p = after_char(j, p, c"{")
    if p == NULL:
        return NULL
    while p == j.end or nmembers or p[0] != c"}":
        name = written(&j.out)
        p = read_string(j, p)
        p = after_char(j, p, c":") if p != NULL else NULL
        if p == NULL:
            return NULL
        if nmembers == 0 and not j.plain:
            tag = tag_of(&j.out, name)
            end = end_of_tag(j, p) if tag != NO_TAG else p
            if end == NULL:
                return NULL
            if end != p:
                j.out.cursor = j.out.start + mark
                j.depth -= 1
                p = read_tag(j, p, tag)
                if p != NULL and after_space(j, p) != end:
                    return not_json(j, p)
                if p != NULL:
                    p = end + 1
                return p
        if j.depth > MAX_JSON_DEPTH:
            return not_json(j, p)
        if nmembers == COMPARED_NAMES:
            many = set()
            for i in range(COMPARED_NAMES):
                many.add(name_at(&j.out, names[i]))
        if many is not None:
            key = name_at(&j.out, name)
            is_again = is_again or key in many
            many.add(key)
        else:
            is_again = is_again or has_name(&j.out, names, nmembers, name)
            names[nmembers] = name
        if is_again and not j.plain:
            return not_json(j, p)
        nmembers += 1
        p = read_json(j, p)
        if p == NULL:
            return NULL
        p = after_space(j, p)
        if p < j.end and p[0] == c"}":
            break
        p = after_char(j, p, c",")
        if p == NULL:
            return NULL
    if nmembers > INT32_MAX:
        return not_json(j, p)
    if j.depth > MAX_JSON_DEPTH:
        return not_json(j, p)
    if is_again:
        nmembers = keep_last_members(j, mark + 5)
    store_i32(j.out.start + mark + 1, <int32_t>nmembers)
    j.depth -= 1
    return p + 1


cdef inline bytes name_at(const WriteBuffer* b, Py_ssize_t offset):
    return b.start[offset + 5:offset + 5 + load_i32(b.start + offset + 1)]


cdef inline bint has_name(const WriteBuffer* b, const Py_ssize_t* names, Py_ssize_t nnames, Py_ssize_t name) noexcept:
    cdef Py_ssize_t i, nbytes = 4 + load_i32(b.start + name + 1)
    for i in range(nnames):
        if memcmp(b.start + names[i] + 1, b.start + name + 1, 4) == 0 \
                and memcmp(b.start + names[i] + 1, b.start + name + 1, nbytes) == 0:
            return True
    return False


cdef Py_ssize_t keep_last_members(JsonText* j, Py_ssize_t mark) except -1:
    # As a dict, in the order in which the names came first. Returns the number of members.
    cdef const unsigned char* p = j.out.start + mark
    cdef const unsigned char* value
    cdef const unsigned char* end
    cdef dict members = {}
    while p < j.out.cursor:
        value = p + 5 + load_i32(p + 1)
        end = end_of_value(&j.skipping, value, j.out.cursor)
        members[p[:value - p]] = value[:end - value]
        p = end
    j.out.cursor = j.out.start + mark
    for name, encoded in members.items():
        append_bytes_of(&j.out, <bytes>name, len(<bytes>name))
        append_bytes_of(&j.out, <bytes>encoded, len(<bytes>encoded))
    return len(members)


# Tags.

cdef Tag tag_of(const WriteBuffer* b, Py_ssize_t name) noexcept:
    cdef const unsigned char* text = b.start + name + 5
    cdef Py_ssize_t nbytes = load_i32(b.start + name + 1), i
    for i in range(NO_TAG):
        if nbytes == TAG_NBYTES[i] and memcmp(text, TAG_TEXTS[i], nbytes) == 0:
            return <Tag>i
    return NO_TAG


cdef const unsigned char* end_of_tag(JsonText* j, const unsigned char* p) except? NULL:
    # Where the object ends of which the value at p is the only member; p: it has more; NULL: that is not known.
    # The text is passed over once for each tag that it is in, so the work is at most that of the depth allowed. What is
    # not JSON may hide the end, or look like it: the value is read, whatever is found.
    cdef const unsigned char* start = p
    cdef const unsigned char* end = NULL
    cdef Py_ssize_t nopen = 0
    while p < j.end and end == NULL:
        if p[0] == c'"':
            p += 1
            while p < j.end and p[0] != c'"':
                p += 2 if p[0] == c"\\" else 1
        elif is_open(p):
            nopen += 1
        elif is_close(p) or p[0] == c",":
            if nopen == 0:
                end = p if p[0] == c"}" else start
            nopen -= p[0] != c","
        p += 1
    if p - start > LONG_LINE_NBYTES:
        PyErr_CheckSignals()
    return end if end != NULL else cut_value(j, start)


cdef const unsigned char* cut_value(JsonText* j, const unsigned char* p) except? NULL:
    # Always NULL: the text ends in an object, in its first value or after it. If all of it is valid, the failure is at
    # the end, since more may come. A number may be that of a tag: it may be beyond the range of an INT or LONG.
    cdef JsonNumber number
    if p < j.end and (p[0] == c"-" or c"0" <= p[0] <= c"9"):
        if not read_number(j, p, &number) or number.ndigits > MAX_DIGITS:
            return not_json(j, j.failed_at if number.end == NULL else p)
        p = number.end
    else:
        j.depth -= p < j.end and p[0] == c"["    # of a VECTOR the tag is no depth
        p = read_json(j, p)
    return not_json(j, after_space(j, p)) if p != NULL else NULL


cdef const unsigned char* read_tag(JsonText* j, const unsigned char* p, Tag tag) except? NULL:
    if tag == TAG_VECTOR or tag == TAG_MAP:
        return read_array(j, p, VECTOR if tag == TAG_VECTOR else MAP)
    if tag == TAG_BYTES or tag == TAG_STRING:
        return read_base64(j, p, BYTES if tag == TAG_BYTES else STRING)
    if tag == TAG_FLOAT or tag == TAG_DOUBLE:
        return read_real(j, p, FLOAT if tag == TAG_FLOAT else DOUBLE)
    if tag == TAG_WRITABLE:
        return read_writable(j, p)
    return read_ext(j, p) if tag == TAG_EXT else read_integer(j, p, tag)


cdef const unsigned char* read_integer(JsonText* j, const unsigned char* p, Tag tag) except? NULL:
    cdef JsonNumber number
    cdef int64_t value
    if not read_number(j, p, &number):
        return NULL
    if not has_int64(&number):
        return not_json(j, p)
    value = int64_of(&number)
    reserve(&j.out, 9)
    if tag == TAG_LONG:
        j.out.cursor[0] = LONG
        store_i64(j.out.cursor + 1, value)
        j.out.cursor += 9
    elif tag == TAG_SHORT and j.hive and value == <int16_t>value:
        j.out.cursor[0] = SHORT
        store_i16(j.out.cursor + 1, <int16_t>value)
        j.out.cursor += 3
    elif tag == TAG_BYTE and value == <signed char>value or tag == TAG_BOOL and value == <unsigned char>value:
        j.out.cursor[0] = BYTE if tag == TAG_BYTE else BOOL
        j.out.cursor[1] = <unsigned char>value
        j.out.cursor += 2
    else:
        return not_json(j, p)
    return number.end


cdef const unsigned char* read_real(JsonText* j, const unsigned char* p, int code) except? NULL:
    # A number, or as text "inf", "-inf", or "nan:" and the bits.
    cdef JsonNumber number
    cdef Py_ssize_t mark = written(&j.out), nbytes, width = 8 if code == DOUBLE else 4, i
    cdef const unsigned char* end
    cdef const unsigned char* text
    cdef unsigned char bits[8]
    if p == j.end or p[0] != c'"':
        return append_json_real(j, &number, code) if read_number(j, p, &number) else NULL
    end = read_string(j, p)
    if end == NULL:
        return NULL
    text, nbytes = j.out.start + mark + 5, written(&j.out) - mark - 5
    if nbytes == 4 + 2 * width and memcmp(text, b"nan:", 4) == 0:
        for i in range(width):
            if hex_digit(text[4 + 2 * i]) < 0 or hex_digit(text[5 + 2 * i]) < 0:
                return not_json(j, p)
            bits[i] = <unsigned char>(hex_digit(text[4 + 2 * i]) << 4 | hex_digit(text[5 + 2 * i]))
        if not isnan(load_f64(bits) if code == DOUBLE else load_f32(bits)):
            return not_json(j, p)
    elif nbytes == 3 and memcmp(text, b"inf", 3) == 0 or nbytes == 4 and memcmp(text, b"-inf", 4) == 0:
        memcpy(bits, b"\x7f\xf0\0\0\0\0\0\0" if code == DOUBLE else b"\x7f\x80\0\0", width)
        bits[0] |= 0x80 if nbytes == 4 else 0
    else:
        return not_json(j, p)
    j.out.cursor = j.out.start + mark
    append_byte_of(&j.out, <unsigned char>code)
    append_bytes_of(&j.out, bits, width)
    return end


cdef const unsigned char* read_base64(JsonText* j, const unsigned char* p, int code) except? NULL:
    # What a string has, in its place: that is shorter.
    cdef Py_ssize_t mark = written(&j.out), nbytes, npad = 0, i
    cdef unsigned char* out
    cdef const unsigned char* text
    cdef int group, a, b, c, d
    p = read_string(j, p)
    if p == NULL:
        return NULL
    text = out = j.out.start + mark + 5
    nbytes = j.out.cursor - text
    if nbytes and text[nbytes - 1] == c"=":
        npad = 2 if nbytes > 1 and text[nbytes - 2] == c"=" else 1
    if nbytes % 4:
        return not_json(j, p)
    for i in range(0, nbytes, 4):
        a, b = base64_digit(text[i]), base64_digit(text[i + 1])
        c = 0 if npad == 2 and i + 4 == nbytes else base64_digit(text[i + 2])
        d = 0 if npad and i + 4 == nbytes else base64_digit(text[i + 3])
        if (a | b | c | d) < 0:
            return not_json(j, p)
        group = a << 18 | b << 12 | c << 6 | d
        out[0], out[1], out[2] = <unsigned char>(group >> 16), <unsigned char>(group >> 8), <unsigned char>group
        out += 3
    j.out.cursor = out - npad
    j.out.start[mark] = <unsigned char>code
    store_i32(j.out.start + mark + 1, <int32_t>(written(&j.out) - mark - 5))
    return p


cdef inline int base64_digit(unsigned char byte) noexcept:
    return byte - c"A" if c"A" <= byte <= c"Z" else byte - c"a" + 26 if c"a" <= byte <= c"z" \
        else byte - c"0" + 52 if c"0" <= byte <= c"9" else 62 if byte == c"+" else 63 if byte == c"/" else -1


cdef const unsigned char* read_writable(JsonText* j, const unsigned char* p) except? NULL:
    cdef Py_ssize_t mark = written(&j.out), nname, nbytes
    cdef unsigned char* payload
    p = after_char(j, p, c"[")
    if p == NULL:
        return NULL
    reserve(&j.out, 4)
    j.out.cursor += 4    # the code of the name's STRING is then the last byte of the payload's length
    p = read_string(j, p)
    nname = written(&j.out) - mark - 9
    p = after_char(j, p, c",") if p != NULL else NULL
    p = read_base64(j, p, BYTES) if p != NULL else NULL
    p = end_of_array(j, p)
    if p == NULL:
        return NULL
    payload = j.out.start + mark + 9 + nname
    memmove(payload, payload + 5, j.out.cursor - payload - 5)
    j.out.cursor -= 5
    nbytes = written(&j.out) - mark - 5
    if nbytes > INT32_MAX:
        return not_json(j, p)
    j.out.start[mark] = WRITABLE
    store_i32(j.out.start + mark + 1, <int32_t>nbytes)
    return p


cdef const unsigned char* read_ext(JsonText* j, const unsigned char* p) except? NULL:
    cdef JsonNumber number
    cdef Py_ssize_t mark = written(&j.out)
    p = after_char(j, p, c"[")
    if p == NULL or not read_number(j, p, &number):
        return NULL
    if not has_int64(&number) or not 50 <= int64_of(&number) <= 200:
        return not_json(j, p)
    p = after_char(j, number.end, c",")
    p = read_base64(j, p, <int>int64_of(&number)) if p != NULL else NULL
    p = end_of_array(j, p)
    if p != NULL and j.hive and j.out.start[mark] == ENDOFRECORD:
        if written(&j.out) > mark + 5:
            return not_json(j, p)
        j.out.cursor = j.out.start + mark + 1
    return p
