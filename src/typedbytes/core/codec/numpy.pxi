# NumPy's arrays and scalars; without NumPy there is no object of such a type.


cdef bint encode_numpy(Encoding* e, object obj) except -1:
    if isinstance(obj, loaded_type("numpy", "ndarray") or ()):
        from typedbytes._base.npy import dumps_array
        try:
            data = dumps_array(obj)
        except TypeError as error:
            reraise_memory_error(error)
            raise EncodeTypeError(str(error), path_of(e.frame)) from error
        encode_payload(e, NDARRAY, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
        return True
    if not isinstance(obj, loaded_type("numpy", "generic") or ()):
        return False
    return encode_numpy_scalar(e, obj)


cdef bint encode_numpy_scalar(Encoding* e, object obj) except -1:
    # By kind and width: what fits the 8, 32 or 64 signed bits of BYTE, INT and LONG.
    cdef object number
    kind = obj.dtype.kind
    size = obj.dtype.itemsize
    if kind == "b":
        number = bool(obj)
        encode_bool(e, <PyObject*>number)
    elif kind == "f" and size <= 4:
        encode_float(e, float(obj))
    elif kind == "c" and size <= 16:
        encode_value_type(e, complex(obj))
    elif kind == "i" and size == 1:
        number = Byte(obj)
        encode_byte(e, <PyObject*>number)
    elif kind in "iu":
        number = int(obj)
        if e.int_width == 0 and (size == 8 or kind == "u" and size == 4) and number < 1 << 63:
            encode_long(e, <PyObject*>number)
        else:
            encode_int(e, <PyObject*>number)
    else:
        return False
    return True
