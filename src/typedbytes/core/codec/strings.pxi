# STRING, and the table of strings that repeat.

# wire    7 STRING: i32 length in bytes, UTF-8.
# python  str both ways; unicode_errors= decides what other bytes and lone surrogates become.
# errors  FormatError at the type code: negative length, not UTF-8. EncodeValueError: lone surrogate, over 2^31-1 bytes.
# source  Hadoop TypedBytesOutput.writeString (strict here, as our decision); vectors string_*.

from typedbytes.core.strings cimport *

cdef inline PyObject* decode_string(Decoding* d, const unsigned char* p, Py_ssize_t nbytes) except NULL:
    if unlikely(MIN_COPIED_AT_ONCE <= nbytes <= MAX_COPIED_AT_ONCE) and is_ascii(p, 64):
        return decode_long_string(d, p, nbytes)
    if likely(is_ascii(p, nbytes)):
        return decode_ascii(p, nbytes)
    return decode_text(d, p, nbytes)


cdef enum:
    MIN_COPIED_AT_ONCE = 512
    MAX_COPIED_AT_ONCE = 1 << 16    # bytes that are copied in vain, where the last is no ASCII

cdef PyObject* decode_long_string(Decoding* d, const unsigned char* p, Py_ssize_t nbytes) except NULL:
    # One that begins with ASCII is copied while it is checked.
    cdef PyObject* text = new_ascii(nbytes)
    if likely(copy_ascii(<unsigned char*>ascii_data(text), p, nbytes)):
        return text
    decref(text)
    return decode_text(d, p, nbytes)


cdef inline PyObject* decode_ascii(const unsigned char* p, Py_ssize_t nbytes) except NULL:
    cdef PyObject* text = new_ascii(nbytes)
    copy_short(ascii_data(text), p, nbytes)
    return text


# Strings that repeat (MAP keys, short words) are shared through a table. The hash of a string's bytes selects two
# adjacent slots, which are compared in full. On its first occurrence only a string's bytes are recorded, in the first
# slot; the slot's old content moves to the second. On its second occurrence the str is created from pooled memory and
# kept. Pooling matters because a long-lived str scattered on the heap would pin the memory around it. Pair keys are
# always looked up. Other strings are looked up while their balance is above 0: a hit adds 1, a miss subtracts 1; at 0
# lookups stop for a while. The balance of short MAP keys may grow to CACHED_STRINGS, so that many misses are allowed.
# Table and balances are shared by everything that is decoded in this process; without the GIL, in this thread.

cdef enum:
    CACHED_LENGTH = 24        # bytes of a short string; longer ones that are not MAP keys rarely repeat
    CACHED_KEY_LENGTH = 256   # of MAP keys
    MAX_BALANCE = 64
    MIN_BALANCE = -1024


cdef void release_strings(object capsule) noexcept:
    # Called when this thread ends.
    cdef Py_ssize_t i
    for i in range(CACHED_STRINGS):
        empty_slot(&CACHE[i])


cdef inline bint should_look_up(int* balance) noexcept:
    if balance[0] > 0:
        return True
    balance[0] = balance[0] - 1 if balance[0] > MIN_BALANCE else FIRST_BALANCE // 2
    return False


cdef inline bint is_same(const CachedString* slot, const short_words* words, Py_ssize_t nbytes) noexcept:
    return slot.nbytes == nbytes and same_short(&slot.words, words)


cdef inline PyObject* find_cached(CachedString* slot, const short_words* words, Py_ssize_t nbytes) noexcept:
    # Borrowed; NULL without an exception when it is not there.
    if likely(is_same(slot, words, nbytes)):
        return slot.text
    slot += 1
    if is_same(slot, words, nbytes):
        return slot.text
    return NULL


cdef inline CachedString* cache_slot(const short_words* words, Py_ssize_t nbytes) noexcept:
    return &CACHE[hash_short(words, nbytes) & (CACHED_STRINGS - 2)]


cdef PyObject* decode_and_cache(Decoding* d, CachedString* slot, const short_words* words, const unsigned char* p,
                                Py_ssize_t nbytes) except NULL:
    cdef PyObject* text
    cdef bint is_first = not is_same(slot, words, nbytes)
    slot += is_first
    is_first &= not is_same(slot, words, nbytes)    # in neither slot
    if is_ascii(p, nbytes):
        text = new_ascii(nbytes) if is_first else new_pooled_ascii(nbytes)
        copy_short(ascii_data(text), p, nbytes)
    else:
        text = text_from_utf8(p, nbytes)
        if text == NULL:
            return decode_invalid_text(d, p, nbytes)    # not cached: error handlers differ between decoders
    if is_first:    # shift the first slot to the second and record the bytes in the first
        empty_slot(slot)
        slot -= 1
        slot[1] = slot[0]
        slot.words = words[0]
        slot.nbytes = nbytes
        slot.text = NULL
    else:
        fill_slot(slot, p, text)
    return text


cdef inline unsigned char* long_bytes(const CachedString* slot) noexcept:
    # The UTF-8 bytes of a long key whose text is cached: those of the str if it is ASCII,
    # else memory that the slot owns.
    cdef unsigned char* p
    memcpy(&p, &slot.words, sizeof(p))
    return p


cdef int fill_slot(CachedString* slot, const unsigned char* p, PyObject* text) noexcept:
    cdef unsigned char* kept
    empty_slot(slot)    # what is there may be another long key
    if slot.nbytes > CACHED_LENGTH:
        kept = <unsigned char*>PyUnicode_DATA(text)
        if not PyUnicode_IS_ASCII(text):
            kept = <unsigned char*>PyMem_Malloc(slot.nbytes)
            if kept == NULL:
                return 0    # not remembered
            memcpy(kept, p, slot.nbytes)
        memcpy(&slot.words, &kept, sizeof(kept))
    incref(text)
    slot.text = text
    if NO_GIL:
        free_strings_at_thread_end(release_strings)
    return 0


cdef void empty_slot(CachedString* slot) noexcept:
    if slot.text != NULL:
        if slot.nbytes > CACHED_LENGTH and not PyUnicode_IS_ASCII(slot.text):
            PyMem_Free(long_bytes(slot))
        decref(slot.text)
        slot.text = NULL


cdef inline PyObject* decode_pair_key(Decoding* d, const unsigned char* p, Py_ssize_t nbytes) except NULL:
    cdef short_words words
    cdef CachedString* slot
    cdef PyObject* text
    if unlikely(nbytes > CACHED_LENGTH):
        return decode_string(d, p, nbytes)
    words = load_short(p, nbytes)
    slot = cache_slot(&words, nbytes)
    text = find_cached(slot, &words, nbytes)
    if unlikely(text == NULL):
        return decode_and_cache(d, slot, &words, p, nbytes)
    incref(text)
    return text


cdef inline bint holds_long_key(const CachedString* slot, const unsigned char* p, Py_ssize_t nbytes) noexcept:
    return slot.nbytes == nbytes and slot.text != NULL and memcmp(long_bytes(slot), p, nbytes) == 0


cdef inline PyObject* decode_map_key(Decoding* d, const unsigned char* p, Py_ssize_t nbytes) except NULL:
    # Records have the same keys in the same order, so the key that came after the previous key last time is compared
    # first, before a hash is computed.
    cdef short_words words
    cdef CachedString* slot = (<CachedString*>last_key_slot(&d.last_map_key)[0]).next_key
    cdef PyObject* text
    global SHORT_KEY_BALANCE, LONG_KEY_BALANCE
    if unlikely(nbytes > CACHED_LENGTH):
        if likely(slot != NULL and holds_long_key(slot, p, nbytes)):
            LONG_KEY_BALANCE += LONG_KEY_BALANCE < MAX_BALANCE
            last_key_slot(&d.last_map_key)[0] = slot
            incref(slot.text)
            return slot.text
        return decode_long_map_key(d, p, nbytes)
    words = load_short(p, nbytes)
    if unlikely(slot == NULL or not is_same(slot, &words, nbytes) or slot.text == NULL):
        if unlikely(not should_look_up(&SHORT_KEY_BALANCE)):
            return decode_string(d, p, nbytes)
        slot = cache_slot(&words, nbytes)
        text = find_cached(slot, &words, nbytes)
        if unlikely(text == NULL):
            SHORT_KEY_BALANCE -= 1
            return decode_and_cache(d, slot, &words, p, nbytes)
        SHORT_KEY_BALANCE += SHORT_KEY_BALANCE < CACHED_STRINGS
        slot += text != slot.text
        (<CachedString*>last_key_slot(&d.last_map_key)[0]).next_key = slot
    last_key_slot(&d.last_map_key)[0] = slot
    incref(slot.text)
    return slot.text


cdef PyObject* decode_long_map_key(Decoding* d, const unsigned char* p, Py_ssize_t nbytes) except NULL:
    # One that was not expected.
    cdef short_words words
    cdef CachedString* slot
    global LONG_KEY_BALANCE
    if nbytes > CACHED_KEY_LENGTH or not should_look_up(&LONG_KEY_BALANCE):
        return decode_string(d, p, nbytes)
    words = load_long(p, nbytes)
    slot = cache_slot(&words, nbytes)
    slot += not holds_long_key(slot, p, nbytes)
    if not holds_long_key(slot, p, nbytes):
        LONG_KEY_BALANCE -= 1
        return decode_and_cache(d, slot - 1, &words, p, nbytes)
    LONG_KEY_BALANCE += LONG_KEY_BALANCE < MAX_BALANCE
    (<CachedString*>last_key_slot(&d.last_map_key)[0]).next_key = slot
    last_key_slot(&d.last_map_key)[0] = slot
    incref(slot.text)
    return slot.text


# The interpreter's own texts of one ASCII character; filled at import, never freed.
cdef PyObject* LETTERS[128]

cdef int share_letters() except -1:
    cdef unsigned char letter
    for letter in range(128):
        LETTERS[letter] = PyUnicode_DecodeUTF8(<const char*>&letter, 1, NULL)

share_letters()


cdef inline PyObject* decode_short_string(Decoding* d, const unsigned char* p, Py_ssize_t nbytes) except NULL:
    cdef short_words words
    cdef CachedString* slot
    cdef PyObject* text
    global STRING_BALANCE
    if nbytes > CACHED_LENGTH or not d.use_string_cache or not should_look_up(&STRING_BALANCE):
        return decode_string(d, p, nbytes)
    if nbytes == 1 and p[0] < 128:
        incref(LETTERS[p[0]])
        return LETTERS[p[0]]
    words = load_short(p, nbytes)
    slot = cache_slot(&words, nbytes)
    text = find_cached(slot, &words, nbytes)
    if text == NULL:
        STRING_BALANCE -= 1
        return decode_and_cache(d, slot, &words, p, nbytes)
    STRING_BALANCE += STRING_BALANCE < MAX_BALANCE
    incref(text)
    return text


cdef inline PyObject* find_string(const unsigned char* p, Py_ssize_t nbytes, bint is_key) noexcept:
    # A new reference; NULL without an exception: not in the cache.
    cdef short_words words = load_short(p, nbytes)
    cdef PyObject* text = find_cached(cache_slot(&words, nbytes), &words, nbytes)
    global STRING_BALANCE
    if likely(text != NULL):
        STRING_BALANCE += not is_key and STRING_BALANCE < MAX_BALANCE
        incref(text)
    return text


cdef inline PyObject* decode_text(Decoding* d, const unsigned char* p, Py_ssize_t nbytes) except NULL:
    cdef PyObject* text = text_from_utf8(p, nbytes)
    return text if likely(text != NULL) else decode_invalid_text(d, p, nbytes)


cdef enum:
    MIN_ONE_PASS_NBYTES = 512    # for shorter text, measuring first is as fast as trying to decode in one pass

cdef PyObject* latin_from_utf8(const unsigned char* p, Py_ssize_t nbytes) except? NULL:
    # In one pass. NULL without an exception: it has characters beyond Latin-1, or is not UTF-8.
    cdef PyObject* text = PyUnicode_New(nbytes, 0xff)
    cdef Py_ssize_t nchars = utf8_to_latin(p, nbytes, PyUnicode_DATA(text))
    if nchars >= 0 and shorten_latin(&text, nchars) == 0:
        return text
    decref(text)
    return NULL


cdef PyObject* text_from_utf8(const unsigned char* p, Py_ssize_t nbytes) except? NULL:
    # Text that is not ASCII: measured, made in its final width, and filled. NULL without an exception: it is not UTF-8.
    cdef unsigned char greatest
    cdef Py_ssize_t nchars
    cdef PyObject* text
    cdef bint valid
    if unlikely(nbytes >= MIN_ONE_PASS_NBYTES) and may_be_latin(p, nbytes):
        text = latin_from_utf8(p, nbytes)
        if likely(text != NULL):
            return text
    nchars = utf8_measure(p, nbytes, &greatest)
    if greatest < 0xc4:
        text = PyUnicode_New(nchars, 0xff)
        valid = utf8_to_ucs1(p, nbytes, PyUnicode_DATA(text), nchars)
    elif greatest < 0xf0:
        text = PyUnicode_New(nchars, 0xffff)
        valid = utf8_to_ucs2(p, nbytes, PyUnicode_DATA(text), nchars)
    else:
        text = PyUnicode_New(nchars, 0x10ffff)
        valid = utf8_to_ucs4(p, nbytes, PyUnicode_DATA(text), nchars)
    if likely(valid):
        return text
    decref(text)
    return NULL


def _limit_vectors(int limit):
    """Limit the vector instructions that transcode text, for tests and benchmarks: 0 common, 1 AVX2, 2 AVX-512.

    Returns the limit in use.
    """
    return limit_vectors(limit)


cdef PyObject* decode_invalid_text(Decoding* d, const unsigned char* p, Py_ssize_t nbytes) except NULL:
    # `p` is the payload of a STRING; errors report the offset of its type code.
    # The collector runs while an error handler does.
    cdef bint was_ours = resume_collector()
    cdef PyObject* text
    try:
        text = PyUnicode_DecodeUTF8(<const char*>p, nbytes, d.unicode_errors)
    except UnicodeDecodeError as error:
        reraise_memory_error(error)
        return raise_refused(d, f"STRING is not UTF-8: {error.reason} at its byte {error.start}", "unicode_errors", "",
                             offset_of(&d.buf, p) - 5, STRING, error)
    if was_ours:
        pause_collector()
    return text


cdef inline int encode_str(Encoding* e, PyObject* obj) except -1:
    cdef Py_ssize_t nbytes
    if likely(PyUnicode_IS_COMPACT_ASCII(obj)):
        return encode_payload(e, STRING, ascii_data(obj), PyUnicode_GET_LENGTH(obj))
    return encode_text(e, obj) if known_utf8(obj, &nbytes) == NULL else encode_known_utf8(e, obj)


cdef int encode_known_utf8(Encoding* e, PyObject* obj) except -1:
    cdef Py_ssize_t nbytes
    cdef const char* utf8 = known_utf8(obj, &nbytes)
    return encode_payload(e, STRING, utf8, nbytes)


# Samples of the texts that were encoded last, are not ASCII and not long. A text that comes again gets its UTF-8 from
# the interpreter, which keeps it in the str: keys of records, and names in them, are often the same objects. Another
# text where one was freed has another sample. While hardly any comes again, only some are looked up.

cdef enum:
    LAST_TEXTS = 4096
    MAX_KEPT_LENGTH = 256     # characters

cdef uint64_t TEXT_SAMPLES[LAST_TEXTS]
cdef int TEXT_BALANCE = LAST_TEXTS

cdef const char* utf8_of_repeated(PyObject* text, Py_ssize_t* nbytes) noexcept:
    # NULL without an exception: this is the text's first time, or it has no UTF-8.
    cdef uint64_t sample
    cdef uint64_t* last
    cdef const char* utf8
    global TEXT_BALANCE
    TEXT_BALANCE -= 1
    if TEXT_BALANCE < 0:
        if TEXT_BALANCE < -4 * LAST_TEXTS:
            TEXT_BALANCE = LAST_TEXTS
        return NULL
    sample = sample_of(PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text) * PyUnicode_KIND(text))
    last = &TEXT_SAMPLES[(sample >> 48 ^ sample >> 5) % LAST_TEXTS]
    if last[0] != sample:
        last[0] = sample
        return NULL
    TEXT_BALANCE = LAST_TEXTS
    utf8 = PyUnicode_AsUTF8AndSize(text, nbytes)
    if utf8 == NULL:
        PyErr_Clear()
    return utf8


cdef int encode_text(Encoding* e, PyObject* obj) except -1:
    cdef Py_ssize_t nchars, nbytes
    cdef const char* utf8
    cdef unsigned char* head
    cdef int kind
    PyUnicode_READY(obj)
    nchars = PyUnicode_GET_LENGTH(obj)
    if PyUnicode_IS_ASCII(obj):    # an instance of a subclass
        return encode_payload(e, STRING, PyUnicode_DATA(obj), nchars)
    if not NO_GIL and nchars <= MAX_KEPT_LENGTH:
        utf8 = utf8_of_repeated(obj, &nbytes)
        if utf8 != NULL:
            return encode_payload(e, STRING, utf8, nbytes)
    kind = PyUnicode_KIND(obj)
    if nchars > MAX_LENGTH:
        return raise_too_long(e, STRING, nchars)
    # The most that a character of this kind can take; the length is known, and stored, afterwards. Text that might be
    # too long for the format is measured before memory is allocated for it.
    nbytes = nchars * (2 if kind == 1 else 3 if kind == 2 else 4)
    if unlikely(nchars > (MAX_LENGTH - 5 - UTF8_SLACK) // 4):
        nbytes = utf8_length(kind, PyUnicode_DATA(obj), nchars)
        if nbytes < 0:
            return encode_surrogates(e, <object>obj)
        if nbytes > min(MAX_LENGTH, PY_SSIZE_T_MAX - 5 - UTF8_SLACK):
            return raise_too_long(e, STRING, nbytes)
    reserve(&e.buf, 5 + nbytes + UTF8_SLACK)
    head = e.buf.cursor
    if kind == 1:
        nbytes = utf8_from_ucs1(head + 5, PyUnicode_DATA(obj), nchars)
    elif kind == 2:
        nbytes = utf8_from_ucs2(head + 5, PyUnicode_DATA(obj), nchars)
    else:
        nbytes = utf8_from_ucs4(head + 5, PyUnicode_DATA(obj), nchars)
    if nbytes < 0:
        return encode_surrogates(e, <object>obj)
    head[0] = STRING
    store_i32(head + 1, <int32_t>nbytes)
    e.buf.cursor = head + 5 + nbytes
    return 0


cdef int encode_surrogates(Encoding* e, object text) except -1:
    if e.unicode_errors == NULL:
        hint = ": pass unicode_errors=\"surrogateescape\", for example"
        error = EncodeValueError("str holds a lone surrogate, which UTF-8 cannot encode" + hint, path_of(e.frame))
        error.option, error.hint = "unicode_errors", hint
        raise error
    kept = text    # an error handler may drop the caller's reference
    try:
        data = str.encode(kept, "utf-8", (<bytes>e.unicode_errors).decode("ascii"))
    except UnicodeEncodeError as error:
        reraise_memory_error(error)
        raise EncodeValueError(f"str cannot be encoded as UTF-8: {error.reason}", path_of(e.frame)) from error
    return encode_payload(e, STRING, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
