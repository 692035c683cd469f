# A described class as a program: the tree that typedbytes/sequencefile/_classes.py makes of its text, as C structs.
#
# Invariant: the structs borrow from `kept` and live as long as their ClassProgram, and nothing in them changes once it
# is made: threads may share it. What a count counts takes at least one byte each, so that no count is larger than the
# bytes that are left.

cdef enum FieldKind:
    BYTE_FIELD
    SHORT_FIELD
    INT_FIELD
    LONG_FIELD
    VINT_FIELD
    VLONG_FIELD
    BOOLEAN_FIELD
    FLOAT_FIELD
    DOUBLE_FIELD
    CHAR_FIELD
    NULL_FIELD
    TEXT_FIELD                # UTF-8 after its count
    STRING_FIELD              # UTF-8 after its count, -1 for null
    STRINGS_FIELD             # a list of such strings, -1 for null
    UTF_FIELD                 # DataOutput.writeUTF
    BYTES_FIELD
    FIXED_FIELD               # bytes of a known number
    REST_FIELD                # all bytes that are left
    RECORD_FIELD
    LIST_FIELD
    ARRAY_FIELD               # a known number of items
    TABLE_FIELD               # TwoDArrayWritable: the number of rows, the length of each, all items
    MAP_FIELD
    OPTIONAL_FIELD
    ENUM_FIELD                # a number for one of several names
    CHOICE_FIELD              # GenericWritable: the number of a class, and one of it
    CONSTANT_FIELD            # bytes that are always the same, and no value
    WITHIN_FIELD              # a count of bytes, and a value that takes all of them
    COMPRESSED_FIELD          # a count of bytes, and a value that takes all of them, compressed by zlib
    CALL_FIELD                # read and written by functions

cdef dict FIELD_KINDS = {
    "byte": BYTE_FIELD, "short": SHORT_FIELD, "int": INT_FIELD, "long": LONG_FIELD, "vint": VINT_FIELD,
    "vlong": VLONG_FIELD, "boolean": BOOLEAN_FIELD, "float": FLOAT_FIELD, "double": DOUBLE_FIELD, "char": CHAR_FIELD,
    "null": NULL_FIELD, "text": TEXT_FIELD, "string": STRING_FIELD, "strings": STRINGS_FIELD, "utf": UTF_FIELD,
    "bytes": BYTES_FIELD, "fixed": FIXED_FIELD, "rest": REST_FIELD, "record": RECORD_FIELD, "list": LIST_FIELD,
    "array": ARRAY_FIELD, "table": TABLE_FIELD, "map": MAP_FIELD, "optional": OPTIONAL_FIELD, "enum": ENUM_FIELD,
    "choice": CHOICE_FIELD, "constant": CONSTANT_FIELD, "within": WITHIN_FIELD, "compressed": COMPRESSED_FIELD,
    "call": CALL_FIELD,
}

# By kind, of numbers.
cdef int64_t[6] MIN_FIELD = [-128, -32768, INT32_MIN, INT64_MIN, INT32_MIN, INT64_MIN]
cdef int64_t[6] MAX_FIELD = [127, 32767, INT32_MAX, INT64_MAX, INT32_MAX, INT64_MAX]
cdef int[6] FIELD_NBYTES = [1, 2, 4, 8, 1, 1]

cdef enum:
    MAX_FIELD_DEPTH = 64      # levels of values within one another: the recursion in C
    MAX_LEAST_NBYTES = 1 << 20    # limit for the least bytes of a value: arrays of arrays of a known number of items
    MAX_ALIASES = 64
    SHORT_NAME_NBYTES = 32    # length of a field's name, as typed bytes, up to which so many bytes are copied

cdef enum Measured:
    NOT_MEASURED
    BEING_MEASURED
    MEASURED

cdef struct ClassNode:
    FieldKind kind
    FieldKind count           # how a count or a number is written
    Py_ssize_t nitems         # number of fields, choices or names; the number of bytes or items, where it is known
    Py_ssize_t nshown         # fields that have a value
    bint is_bare              # a record whose value is that of its only field, beside constants
    Py_ssize_t min_nbytes     # the least bytes that a value takes
    Measured measured         # whether min_nbytes is known
    ClassNode** items         # fields, choices; the item; the key and the value
    ClassText* names          # names of the fields, or of an enum's values; NULL: fields without names
    const unsigned char* constant
    PyObject* shown           # borrowed: str, for messages
    PyObject* functions       # borrowed: a tuple, in CALL_FIELD

# A STRING as typed bytes, borrowed; after it SHORT_NAME_NBYTES can be read.
cdef struct ClassText:
    const unsigned char* p
    Py_ssize_t nbytes


cdef class ClassProgram:
    """The class of keys or values as it is described; made from a tree of typedbytes.sequencefile._classes.

    tree: (kind, shown, count, items, names, value). find: returns the tree of another described class by its name.
    """

    cdef readonly str class_name
    cdef readonly object find    # returns the tree of a described class by its name
    cdef ClassNode* root
    cdef bint is_plain        # store_described() has a form for all of its parts
    cdef list kept            # what the structs borrow, and their memory
    cdef dict made            # nodes of described classes by name

    def __init__(self, str class_name, tree, find):
        if self.kept is not None:
            raise RuntimeError("a ClassProgram cannot be initialised again")
        self.class_name, self.find = class_name, find
        self.kept, self.made = [], {}
        self.is_plain = True
        self.root = self.compile(tree, find)
        self.check_counts()

    def __reduce__(self):
        raise TypeError("a ClassProgram cannot be pickled")

    cdef void* allocate(self, Py_ssize_t count, Py_ssize_t nbytes) except NULL:
        # Zeroed memory that is freed with the program.
        cdef bytearray block = bytearray(max(count, 1) * nbytes + 16)
        cdef size_t address = <size_t>PyByteArray_AS_STRING(block)
        self.kept.append(block)
        return <void*>((address + 15) & ~<size_t>15)

    cdef ClassNode* compile(self, tuple tree, find) except NULL:
        cdef ClassNode* node
        kind, shown, count, items, names, value = tree
        if kind == "class":
            return self.compile_class(value, find)
        node = <ClassNode*>self.allocate(1, sizeof(ClassNode))
        if Py_EnterRecursiveCall(" while a class is compiled"):
            raise_pending()
        try:
            self.fill(node, tree, find)
        finally:
            Py_LeaveRecursiveCall()
        return node

    cdef ClassNode* compile_class(self, str name, find) except NULL:
        cdef ClassNode* node
        if name in self.made:
            return <ClassNode*><size_t>self.made[name]
        node = <ClassNode*>self.allocate(1, sizeof(ClassNode))
        self.made[name] = <size_t>node
        self.fill(node, find(name), find)
        return node

    cdef int fill(self, ClassNode* node, tuple tree, find) except -1:
        kind, shown, count, items, names, value = tree
        for _ in range(MAX_ALIASES):    # a class that is only another name of one
            if kind != "class":
                break
            kind, shown, count, items, names, value = find(value)
        if kind == "class":
            raise ValueError(f"{self.class_name}: class {value} is no more than another name of itself")
        node.kind = FIELD_KINDS[kind]
        node.count = FIELD_KINDS[count]
        node.nitems = len(items) if items and node.kind != ARRAY_FIELD else value if isinstance(value, int) else 0
        node.shown = <PyObject*>shown
        self.kept.append(shown)
        node.items = <ClassNode**>self.allocate(len(items), sizeof(ClassNode*))
        for i in range(len(items)):
            node.items[i] = self.compile(items[i], find)
            node.nshown += node.items[i].kind != CONSTANT_FIELD
        node.is_bare = node.kind == RECORD_FIELD and names is None and node.nshown == 1 and node.nitems > 1
        if names is not None:
            node.names = <ClassText*>self.allocate(len(names), sizeof(ClassText))
            for i in range(len(names)):
                self.fill_name(&node.names[i], names[i])
        if node.kind == ENUM_FIELD:
            node.nitems = len(names)
        elif node.kind == CONSTANT_FIELD:
            self.kept.append(value)
            node.nitems = len(value)
            node.constant = <const unsigned char*>PyBytes_AS_STRING(value)
        elif node.kind == CALL_FIELD:
            self.kept.append(value)
            node.functions = <PyObject*>value
        return 0

    cdef int fill_name(self, ClassText* text, str name) except -1:
        utf8 = name.encode("utf-8")
        encoded = bytes([STRING]) + len(utf8).to_bytes(4, "big") + utf8 + bytes(SHORT_NAME_NBYTES)
        self.kept.append(encoded)
        text.p = <const unsigned char*>PyBytes_AS_STRING(encoded)
        text.nbytes = len(encoded) - SHORT_NAME_NBYTES
        return 0

    cdef int check_counts(self) except -1:
        # Items that take no bytes would make a count mean memory that the input does not have.
        cdef ClassNode* node
        cdef list pending = [<size_t>self.root]
        cdef set seen = set()
        cdef Py_ssize_t i
        while pending:
            address = pending.pop()
            if address in seen:
                continue
            seen.add(address)
            node = <ClassNode*><size_t>address
            for i in range(nparts(node)):
                least_nbytes(node.items[i], self.class_name)
            least_nbytes(node, self.class_name)
            if node.kind in (TABLE_FIELD, CHAR_FIELD, COMPRESSED_FIELD, CALL_FIELD):
                self.is_plain = False
            for i in range(nparts(node)):
                if node.kind in (LIST_FIELD, ARRAY_FIELD, TABLE_FIELD) and node.items[i].min_nbytes == 0:
                    raise ValueError(f"{self.class_name}: the items of {<str>node.shown} take no bytes")
                pending.append(<size_t>node.items[i])
            if node.kind == MAP_FIELD and node.items[0].min_nbytes + node.items[1].min_nbytes == 0:
                raise ValueError(f"{self.class_name}: the pairs of {<str>node.shown} take no bytes")
        return 0

    def read(self, data, Py_ssize_t offset, Py_ssize_t depth=0, options=None):
        """Return the typed bytes of a value of this class that starts at an offset, and the offset after it."""
        cdef DecodeOptions checked = DecodeOptions(**(options or {}))
        cdef Decoding d = checked.template
        cdef Py_buffer view
        cdef WriteBuffer out
        cdef Py_ssize_t nbytes
        contiguous = get_view(data, &view)
        start_owned(&out, 64)
        try:
            if not 0 <= offset <= view.len:
                raise ValueError(f"offset {offset} is not in the {view.len} bytes")
            d.buf.start_offset = offset
            nbytes = read_described(self, &d, <const unsigned char*>view.buf + offset, view.len - offset, &out, -1,
                                    False, depth)
            return finish(&out), offset + nbytes
        finally:
            drop(&out)
            PyBuffer_Release(&view)

    def write(self, bytes typed, options=None):
        """Return the bytes of a value of this class, for a value as typed bytes."""
        cdef EncodeOptions checked = EncodeOptions(**(options or {}))
        cdef WriteBuffer out
        start_owned(&out, 64)
        try:
            write_described(self, checked.template.hive, <const unsigned char*>PyBytes_AS_STRING(typed), len(typed),
                            &out)
            return finish(&out)
        finally:
            drop(&out)


cdef Py_ssize_t nparts(const ClassNode* node) noexcept:
    # The number of `items`.
    if node.kind == RECORD_FIELD or node.kind == CHOICE_FIELD:
        return node.nitems
    if node.kind == MAP_FIELD:
        return 2
    return node.kind in (STRINGS_FIELD, LIST_FIELD, ARRAY_FIELD, TABLE_FIELD, OPTIONAL_FIELD, WITHIN_FIELD,
                         COMPRESSED_FIELD)


cdef Py_ssize_t least_nbytes(ClassNode* node, str name) except -1:
    # What a value takes at least; kept in all nodes from here on.
    cdef Py_ssize_t i, nbytes = 0
    cdef Py_ssize_t least = FIELD_NBYTES[<int>node.kind] if node.kind <= VLONG_FIELD else FIELD_NBYTES[<int>node.count]
    if node.measured == BEING_MEASURED:
        raise ValueError(f"{name}: {<str>node.shown} contains itself without an end: "
                         "use optional<...>, list<...> or map<...>")
    if node.measured == MEASURED:
        return node.min_nbytes
    node.measured = BEING_MEASURED
    if Py_EnterRecursiveCall(" while a class is compiled"):
        raise_pending()
    try:
        if node.kind == RECORD_FIELD or node.kind == ARRAY_FIELD:
            for i in range(nparts(node)):
                nbytes += least_nbytes(node.items[i], name)
            least = nbytes * (node.nitems if node.kind == ARRAY_FIELD else 1)
        elif node.kind == DOUBLE_FIELD:
            least = 8
        elif node.kind == FLOAT_FIELD:
            least = 4
        elif node.kind == CHAR_FIELD or node.kind == UTF_FIELD:
            least = 2
        elif node.kind == NULL_FIELD or node.kind == REST_FIELD:
            least = 0
        elif node.kind == FIXED_FIELD or node.kind == CONSTANT_FIELD:
            least = node.nitems
        elif node.kind == BOOLEAN_FIELD or node.kind == OPTIONAL_FIELD:
            least = 1
    finally:
        Py_LeaveRecursiveCall()
    if least > MAX_LEAST_NBYTES:
        raise ValueError(f"{name}: {<str>node.shown} takes {least} bytes at least: more than {MAX_LEAST_NBYTES}")
    node.min_nbytes = least
    node.measured = MEASURED
    return least
