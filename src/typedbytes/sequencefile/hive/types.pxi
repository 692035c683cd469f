# What a column of an RCFile holds, and the typed bytes that a cell of it becomes.

cdef enum HiveKind:
    HIVE_TEXT
    HIVE_BYTES
    HIVE_BOOL
    HIVE_INTEGER
    HIVE_REAL
    HIVE_DATE                 # an INT, the days since 1970
    HIVE_TIMESTAMP            # a LONG, in the unit, by the wall clock
    HIVE_DECIMAL              # a STRING
    HIVE_LIST
    HIVE_MAP
    HIVE_STRUCT               # a MAP, or a VECTOR

cdef enum:
    MAX_SEPARATORS = 8        # bytes 1 to 8, of which a column's parts have the second

cdef dict HIVE_INTEGERS = {BYTE: (-1 << 7, (1 << 7) - 1), SHORT: (-1 << 15, (1 << 15) - 1),
                           INT: (INT32_MIN, INT32_MAX), LONG: (INT64_MIN, INT64_MAX)}


cdef class HiveType:
    """The type of a column or of a part of one, by its description as the columns module has it."""

    cdef HiveKind kind
    cdef int code                         # type code of the values; VECTOR for a struct without names
    cdef int64_t lowest                   # the smallest integer of the type
    cdef int64_t highest
    cdef int64_t unit                     # nanoseconds in one of the numbers
    cdef int precision
    cdef int scale
    cdef tuple parts                      # HiveTypes
    cdef tuple names                      # the encoded names of a MAP's fields

    def __init__(self, tuple described, int level, bint is_text):
        cdef object name = described[0]
        cdef list parts = []
        self.parts = self.names = ()
        if name == "variable" and described[1] in (BYTES, STRING):
            self.kind, self.code = (HIVE_TEXT if described[1] == STRING else HIVE_BYTES), described[1]
        elif name == "fixed":
            self.code = described[1]
            self.kind = HIVE_BOOL if self.code == BOOL else HIVE_REAL if self.code in (FLOAT, DOUBLE) else HIVE_INTEGER
            if self.kind == HIVE_INTEGER:
                self.lowest, self.highest = HIVE_INTEGERS[self.code]
        elif name == "date":
            self.kind, self.code = HIVE_DATE, INT
        elif name == "timestamp":
            self.kind, self.code = HIVE_TIMESTAMP, LONG
            self.unit = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1000}[described[1]]
        elif name == "decimal":
            self.kind, self.code = HIVE_DECIMAL, STRING
            self.precision, self.scale = described[1:]
        elif name == "list":
            self.kind, self.code = HIVE_LIST, described[1]
            parts.append(described[2])
        elif name == "map":
            self.kind, self.code = HIVE_MAP, MAP
            parts.extend(described[1:])
        elif name == "struct" or name == "row":
            self.kind, self.code = HIVE_STRUCT, MAP if name == "struct" else VECTOR
            for _, part in described[1]:
                parts.append(part)
            if name == "struct":
                self.names = encoded_names(described[1])
        elif name == "tuple":
            self.kind, self.code = HIVE_STRUCT, VECTOR
            parts.extend(described[1])
        else:
            raise ValueError(f"an RCFile has no column of this type: {name}"
                             f"{': name its items, as row<a: int, b: int>' if name == 'array' else ''}")
        if parts:
            level += 2 if self.kind == HIVE_MAP else 1
            if is_text and level > MAX_SEPARATORS:
                raise ValueError(f"Hive's text has {MAX_SEPARATORS} separators, too few for types nested so deep")
            self.parts = hive_types(parts, level, is_text)


cdef tuple hive_types(described, int level, bint is_text):
    cdef list found = []
    for each in described:
        found.append(HiveType(each, level, is_text))
    return tuple(found)


cdef tuple encoded_names(tuple fields):
    cdef list found = []
    for name, _ in fields:
        data = name.encode("utf-8")
        found.append(b"\x07" + len(data).to_bytes(4, "big") + data)
    return tuple(found)
