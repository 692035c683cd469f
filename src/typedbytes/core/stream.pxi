# Encoder, Decoder, Reader, Writer and the pair forms: what must outlive a call.
#
# Here: buffers with a source or a sink, one-call encode and decode, groups of pairs, iterators that stay failed. Not
# here: type codes, paths, the environment. Nothing is opened here (the subclasses in typedbytes/files.py open
# paths); a source or sink is an object with a method to call.
#
# Methods like __use_encoded__ are for our other modules: a user's subclass has no names of this form. Those with one
# underscore are also called from other modules, and a subclass must not override them.
#
# Invariant: an object that is in use refuses a second use (a hook or another thread); a reader that failed stays
# failed; a writer's buffer holds whole records only.

from libc.stdint cimport int64_t
from libc.string cimport memchr, memcmp, memcpy, memset
from cpython.buffer cimport PyBUF_READ, PyBUF_SIMPLE, PyBUF_WRITE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.memoryview cimport PyMemoryView_FromMemory, PyMemoryView_GET_BUFFER
from cpython.object cimport PyObject
from cpython.dict cimport PyDict_CheckExact
from cpython.list cimport PyList_CheckExact
from cpython.tuple cimport PyTuple_CheckExact

from typedbytes.core.byteorder cimport load_i32
from typedbytes.core.cpython cimport (
    as_failure, bytes_restore, bytes_shorten, dict_next, has_buffer, inherit_next, int_to_i64, keyword_function,
    object_from_stolen, pair_from_stolen, replace_calls, tuple_from_stolen, unlikely,
)
from typedbytes.core.heap cimport keep_freed
from typedbytes.core.refs cimport (
    bytes_data, bytes_size, incref, Py_REFCNT, PY_SSIZE_T_MAX, Py_TPFLAGS_DICT_SUBCLASS, Py_TPFLAGS_LIST_SUBCLASS,
    Py_TPFLAGS_TUPLE_SUBCLASS, PyErr_Fetch, PyErr_NormalizeException, PyException_SetTraceback, PyList_GET_ITEM,
    PyList_GET_SIZE, PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyType_HasFeature, xdecref,
)
from typedbytes.core.threads cimport claim_state, claim_states

import io
import os

from typedbytes.errors import EncodeTypeError, FormatError, TruncatedError

cdef enum:
    SCRATCH = 512             # bytes of output encoded on the C stack before a bytes object is allocated
    STACK_NITEMS = 16         # initial capacity, on the C stack, for items of open containers
    MIN_CACHED_NBYTES = 256   # smaller input has too few strings for the string cache to pay
    MIN_PAUSED_NBYTES = 4096  # input from here on is decoded with the collector switched off
    READ_SIZE = 131072        # what Hadoop buffers on its side of the pipe
    WRITE_SIZE = 65536        # what a pipe takes at once
    SCALARS_AT_ONCE = 65536   # records of scalars that are skipped between two checks for signals

cdef EncodeOptions DEFAULT_ENCODE = EncodeOptions()
cdef DecodeOptions DEFAULT_DECODE = DecodeOptions()


include "stream/whole_values.pxi"


cdef class Encoder:
    "Encoder(*, int_width='auto', pickle='safe', default=None, sort_keys=False, unicode_errors='strict', " \
        "dialect='hadoop', max_depth=256, type=None, key_type=None, value_type=None, omit_none=False)\n--\n\n" \
        """Encode objects with fixed options; reusable, and safe to share between threads.

    int_width: "auto" (INT where the number fits, else LONG), 32 or 64. pickle: "safe" writes None, wide ints, Decimal,
    datetime types, sets, complex and UUID as code 100, "trust" pickles anything, "raw" nothing. default: a function
    that is given an object without a type code and returns one that has. sort_keys: order MAP entries by their encoded
    keys, and the elements of sets by their bytes. unicode_errors: as in str.encode. dialect: "hadoop" or "hive".
    max_depth: of containers. type: a record class or another annotation that each object has to fit, and is written as;
    of pairs, key_type and value_type. omit_none: leave fields that are None out of a MAP, where None is their default.

    >>> Encoder(int_width=64).encode(5).hex()
    '040000000000000005'
    """

    cdef EncodeOptions options

    def __cinit__(self, *args, **options):
        self.options = DEFAULT_ENCODE

    def __init__(self, **options):
        self.options = EncodeOptions(**options)

    def __reduce__(self):
        raise TypeError("an Encoder cannot be pickled")

    def encode(self, obj):
        """Encode one object; the same as `dumps`.

        >>> Encoder().encode(True).hex()
        '0201'
        """
        return encode_by_options(<PyObject*>self.options, <PyObject*>obj)

    def encode_into(self, obj, buffer, Py_ssize_t offset=0):
        """Encode one object into a writable buffer at `offset` and return the number of bytes written.

        A bytearray grows as far as needed; any other buffer that is too small raises ValueError.
        When encoding fails the buffer is as it was.

        >>> target = bytearray(1)
        >>> Encoder().encode_into(True, target, 1), target.hex()
        (2, '000201')
        """
        cdef Py_buffer view
        encoded = encode_by_options(<PyObject*>self.options, <PyObject*>obj)
        cdef Py_ssize_t nbytes = len(encoded)
        if type(buffer) is bytearray and 0 <= offset <= len(buffer) < offset + nbytes:
            buffer.extend(bytes(offset + nbytes - len(buffer)))
        PyObject_GetBuffer(buffer, &view, PyBUF_WRITABLE)
        try:
            if not 0 <= offset <= view.len - nbytes:
                raise ValueError(f"{nbytes} bytes do not fit a buffer of {view.len} at offset {offset}")
            memcpy(<char*>view.buf + offset, PyBytes_AS_STRING(encoded), nbytes)
        finally:
            PyBuffer_Release(&view)
        return nbytes

    def encode_all(self, iterable):
        """Encode every object of an iterable, one after the other, as bytes.

        >>> Encoder().encode_all([True, False]).hex()
        '02010200'
        """
        return self.gather(iterable, False)

    def encode_pairs(self, pairs):
        """Encode every (key, value) of an iterable, one after the other, as bytes.

        >>> Encoder().encode_pairs([("a", True)]).hex()
        '0700000001610201'
        """
        return self.gather(pairs, True)

    cdef bytes gather(self, iterable, bint as_pairs):
        options = self.options    # a hook may call __init__ again
        cdef Encoding e = options.template
        cdef Py_ssize_t index = 0
        start_owned(&e.buf, 4 * SCRATCH)
        e.buf.expected = options.template.buf.expected
        try:
            for item in iterable:
                if as_pairs:
                    encode_item_pair(&e, item)
                else:
                    encode_record(&e, <PyObject*>item)
                index += 1
                if not index & SIGNAL_MASK:
                    PyErr_CheckSignals()
            return finish_output(options, &e)
        finally:
            drop(&e.buf)


cdef inline int encode_item_pair(Encoding* e, object item) except -1:
    if PyTuple_CheckExact(item) and len(<tuple>item) == 2:
        return encode_pair(e, PyTuple_GET_ITEM(<PyObject*>item, 0), PyTuple_GET_ITEM(<PyObject*>item, 1))
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        raise EncodeTypeError(f"a pair is a tuple of key and value, not {type(item).__name__} {item!r:.80}")
    key, value = item
    return encode_pair(e, <PyObject*>key, <PyObject*>value)


cdef object encode_positional(PyObject* encoder, PyObject* const* args, Py_ssize_t nargs, PyObject* names):
    # As dumps_without_options: parsing the one argument, which may be named, takes as long as a small value.
    if nargs == 1 and names == NULL:
        return encode_by_options(<PyObject*>(<Encoder>encoder).options, args[0])
    return encode_by_name(encoder, args, nargs, names)

cdef keyword_function encode_by_name = replace_calls(Encoder.encode, encode_positional)


cdef class Decoder:
    "Decoder(*, pickle='safe', exact=False, map_pairs=False, ext_hook=None, unicode_errors='strict', " \
        "dialect='hadoop', max_depth=256, max_bytes=None, type=None, key_type=None, value_type=None, " \
        "strict=True)\n--\n\n" \
        """Decode with fixed options, whole buffers or a stream that is fed in pieces.

    pickle: "safe" builds only value types from code 100, "trust" is ordinary pickle (for one's own data), "raw" gives
    Ext(100, data). exact: give Byte, Long, Float and Ext where plain values would lose their width. map_pairs: a MAP as
    a list of pairs. ext_hook: called as ext_hook(code, data) for application codes without a meaning here.
    unicode_errors: as in bytes.decode. dialect: "hadoop" or "hive". max_depth: of containers. max_bytes: of one record,
    None for no limit. type: a record class or another annotation that each value has to fit, and is an instance of; of
    pairs, key_type and value_type. strict: False takes numbers from text, and the like.

    The decode methods may be used from several threads; feeding and iterating may not.

    >>> Decoder(exact=True).decode(b"\\x01\\x05")
    Byte(5)
    """

    cdef DecodeOptions options
    cdef Decoding fed             # the push side: storage without a source
    cdef Skipping skipping        # how far the value at the mark has been skipped
    cdef object failure
    cdef State state
    cdef bint ended               # close() has been called

    def __cinit__(self, *args, **options):
        self.options = DEFAULT_DECODE

    def __init__(self, **options):
        parsed = DecodeOptions(**options)    # calls methods of what the caller gives, which may feed this Decoder
        if self.fed.buf.storage != NULL:
            raise RuntimeError("a Decoder that was fed cannot be initialised again")
        self.options = parsed

    def __dealloc__(self):
        abandon(&self.fed)
        release(&self.fed.buf)
        stop_skipping(&self.skipping)

    @classmethod
    def __class_getitem__(cls, parameters):
        """Return the class: `Decoder[Visit]` says of what type its values are."""
        return cls

    def __reduce__(self):
        raise TypeError("a Decoder cannot be pickled")

    def decode(self, data):
        """Decode the one value that a bytes-like object holds; the same as `loads`.

        >>> Decoder().decode(b"\\x02\\x01")
        True
        """
        return decode_one(<PyObject*>self.options, <PyObject*>data)

    def decode_from(self, data, Py_ssize_t offset=0):
        """Decode the value at `offset` and return it with the offset after it.

        Raises as `loads`; ValueError for an offset outside the data. Bytes after the value are left alone.

        >>> Decoder().decode_from(b"\\x02\\x01\\x02\\x00", 2)
        (False, 4)
        """
        cdef Py_buffer view
        options = self.options    # a hook may call __init__ again
        cdef Decoding d = options.template
        contiguous = get_view(data, &view)
        borrow(&d.buf, <const unsigned char*>view.buf, view.len)
        try:
            if not 0 <= offset <= view.len:
                raise ValueError(f"offset {offset} is outside the {view.len} bytes given")
            d.buf.cursor += offset
            keep_freed(held(&d.buf))
            value = object_from_stolen(decode_record(&d))
            return value, offset_of(&d.buf, d.buf.cursor)
        finally:
            abandon(&d)
            PyBuffer_Release(&view)

    def decode_all(self, data):
        """Decode all values of a bytes-like object to a list; no bytes at all give an empty one.

        >>> Decoder().decode_all(b"\\x02\\x01\\x02\\x00")
        [True, False]
        """
        return decode_whole(self.options, data, VALUES)

    def decode_pairs(self, data):
        """Decode alternating keys and values to a list of tuples; a key without a value raises TruncatedError.

        >>> Decoder().decode_pairs(b"\\x02\\x01\\x02\\x00")
        [(True, False)]
        """
        return decode_whole(self.options, data, PAIRS)

    def feed(self, data):
        """Take the next bytes of a stream; iterate the Decoder for the values that are complete.

        >>> decoder = Decoder()
        >>> decoder.feed(b"\\x02\\x01\\x02"); list(decoder)
        [True]
        >>> decoder.feed(b"\\x00"); list(decoder)
        [False]
        """
        cdef Py_buffer view
        if self.failure is not None:
            raise self.failure.with_traceback(None)
        if self.ended:
            raise ValueError("this Decoder is closed: no more can be fed")
        self.enter()
        try:
            if self.fed.buf.storage == NULL:
                self.start_fed()
            contiguous = get_view(data, &view)
            try:
                append(&self.fed.buf, <const unsigned char*>view.buf, view.len)
            finally:
                PyBuffer_Release(&view)
        finally:
            self.state = OPEN

    cdef int start_fed(self) except -1:
        stop_skipping(&self.skipping)    # of a call that had no memory
        start_skipping(&self.skipping, &self.options.template)
        self.fed = self.options.template
        self.fed.use_string_cache = True
        self.fed.record_index = 0
        return start_filled(&self.fed.buf, READ_SIZE, NULL, NULL)

    cdef int enter(self) except -1:
        if not claim_state(&self.state, OPEN, BUSY):
            refuse_call(self, self.state, self.failure, "decoder")
        return 0

    def __iter__(self):
        return self

    def __next__(self):
        self.enter()
        try:
            value = self.next_fed()
        except BaseException as error:
            abandon(&self.fed)    # the collector must not stay switched off
            self.failure = as_failure(error)
            self.state = HAS_FAILED
            raise self.failure
        self.state = OPEN
        if value is NOTHING:
            raise StopIteration
        return value

    cdef object next_fed(self):
        # Skipping finds out whether the value is complete. Errors are left to decoding,
        # which reports the first one from left to right.
        cdef ReadBuffer* buf = &self.fed.buf
        cdef SkipOutcome outcome
        if buf.storage == NULL or (buf.mark == NULL and not held(buf)):
            return NOTHING
        if not self.fed.record_index & SIGNAL_MASK:
            PyErr_CheckSignals()
        if buf.mark == NULL:
            buf.mark = buf.cursor
        outcome = skip_value(&self.skipping, buf)
        if outcome == NEEDS_MORE and not (self.fed.max_bytes and buf.end - buf.mark > self.fed.max_bytes):
            if self.failure is not None:
                raise self.failure.with_traceback(None)
            return NOTHING
        buf.cursor = buf.mark
        buf.mark = NULL
        value = object_from_stolen(decode_record(&self.fed))
        self.fed.record_index += 1
        shrink(buf)
        return value

    @property
    def pending(self):
        """The number of bytes fed that no value returned so far has used.

        >>> decoder = Decoder()
        >>> decoder.feed(b"\\x02"); decoder.pending
        1
        """
        cdef ReadBuffer* buf = &self.fed.buf
        return buf.end - (buf.mark if buf.mark != NULL else buf.cursor)

    def close(self):
        """Say that no more will be fed; raises TruncatedError (or what else is wrong) when the last value is not whole.

        Values that are whole and not yet taken can still be had by iterating.

        >>> decoder = Decoder()
        >>> decoder.feed(b"\\x03\\x00"); decoder.close()
        Traceback (most recent call last):
        typedbytes.errors.TruncatedError: input ends inside INT: at least 3 more bytes needed at offset 2, record 0
        """
        if self.failure is not None:
            raise self.failure.with_traceback(None)
        self.enter()
        self.ended = True
        try:
            self.check_rest()
        except BaseException as error:
            self.failure = error    # raised again after the whole values
            raise
        finally:
            self.state = OPEN

    cdef int check_rest(self) except -1:
        # Walk what is pending without taking it: whole values can still be had afterwards.
        cdef Decoding rest = self.options.template
        cdef Skipping skipping
        cdef const unsigned char* start = NULL
        cdef SkipOutcome outcome = SKIPPED
        if self.fed.buf.storage == NULL:
            return 0
        rest.buf = self.fed.buf
        rest.record_index = self.fed.record_index
        if rest.buf.mark != NULL:
            rest.buf.cursor = rest.buf.mark
            rest.buf.mark = NULL
        start_skipping(&skipping, &rest)
        while held(&rest.buf) and outcome == SKIPPED:
            start = rest.buf.cursor
            outcome = skip_value(&skipping, &rest.buf)
            rest.record_index += outcome == SKIPPED
        stop_skipping(&skipping)
        if outcome == SKIPPED:
            return 0
        rest.buf.cursor = start
        try:
            xdecref(decode_record(&rest))    # says what is wrong with it
        finally:
            abandon(&rest)


cdef int refuse_types(owner, dict options, bint of_pairs) except -1:
    # What is of single values is not for pairs, and the other way round.
    for name in ("type",) if of_pairs else ("key_type", "value_type"):
        if name in options:
            has = "key_type= and value_type=" if of_pairs else "type="
            raise TypeError(f"a {type(owner).__name__} has {has}, not {name}=")


cdef object NOTHING = object()    # "no value": None is one


def step_as_base(type cls not None):
    """Let a class made in Python step as its compiled base does, and return it; it has no __next__ of its own."""
    inherit_next(cls)
    return cls


cdef class PassedOptions:
    """The `__signature__` of a class made in Python whose **options are those of another, `target`, except `hidden`."""

    cdef object target, hidden, init

    def __init__(self, target, *hidden):
        self.target, self.hidden = target, hidden

    def __set_name__(self, owner, name):
        self.init = owner.__init__

    def __get__(self, instance, owner):
        if owner.__init__ is not self.init:    # of a subclass, which has parameters of its own
            return None
        from inspect import Signature, signature    # lazy import: start-up time
        _self, *own, _options = signature(self.init).parameters.values()
        names = {parameter.name for parameter in own}
        for parameter in signature(self.target).parameters.values():
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in names \
                    and parameter.name not in self.hidden:
                own.append(parameter)
        return Signature(own)


cdef class ParametersOf:
    """The `__signature__` of a class made in Python whose compiled base has none: that of a function.

    A subclass may have its own.
    """

    cdef object function, owner

    def __init__(self, function):
        self.function = function

    def __set_name__(self, owner, name):
        self.owner = owner

    def __get__(self, instance, owner):
        if owner is not self.owner:
            return None
        from inspect import signature    # lazy import: start-up time
        return signature(self.function)

include "stream/iterate.pxi"
include "stream/reader.pxi"
include "stream/groups.pxi"
include "stream/formats.pxi"
include "stream/writer.pxi"
include "stream/record_loop.pxi"
include "stream/legacy_input.pxi"
include "stream/legacy_output.pxi"
