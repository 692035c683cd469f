# A type as a program: the tree of nodes that typedbytes/_records makes of an annotation, as C structs.
#
# Invariant: the structs borrow from `kept`, and live as long as their TypeProgram; nodes and records may be shared and
# contain themselves. But for the balances of strings, which are hints, nothing in them changes once the program is
# made: threads may share it.


cdef dict TYPE_KINDS = {
    "any": ANY_TYPE, "int": INT_TYPE, "float": FLOAT_TYPE, "str": STR_TYPE, "bool": BOOL_TYPE, "record": RECORD_TYPE,
    "list": LIST_TYPE, "variadic_tuple": VARIADIC_TUPLE_TYPE, "tuple": TUPLE_TYPE, "dict": DICT_TYPE, "set": SET_TYPE,
    "frozenset": FROZENSET_TYPE, "datetime": DATETIME_TYPE_KIND, "date": DATE_TYPE_KIND, "time": TIME_TYPE_KIND,
    "timedelta": DELTA_TYPE_KIND, "decimal": DECIMAL_TYPE_KIND, "uuid": UUID_TYPE_KIND, "enum": ENUM_TYPE,
    "literal": LITERAL_TYPE, "bytes": BYTES_TYPE, "bytearray": BYTEARRAY_TYPE, "memoryview": MEMORYVIEW_TYPE,
    "ndarray": NDARRAY_TYPE, "none": NONE_TYPE, "union": UNION_TYPE,
}
cdef dict MAKE_KINDS = {
    "tuple": MAKE_TUPLE, "slots": MAKE_SLOTS, "dict": MAKE_DICT, "struct": MAKE_STRUCT, "typeddict": MAKE_TYPEDDICT,
    "call": MAKE_CALL,
}
cdef dict UNITS = {None: 1, "us": 1, "ms": 1000, "s": 1000000}
cdef dict WIDTHS = {None: -1, "BYTE": BYTE, "INT": INT, "LONG": LONG, "FLOAT": FLOAT}

cdef enum:
    MAX_NUMBERS = 4096    # of an Enum's table of ints


cdef list attributes_of(tuple objects, str name):
    cdef list found = []
    for each in objects:
        found.append(getattr(each, name))
    return found


@cython.no_gc_clear
cdef class TypeProgram:
    """A type that the core decodes and encodes; made from a tree of typedbytes._records.model."""

    cdef TypeNode* root
    cdef list kept            # what the structs borrow
    cdef void** blocks        # memory of the structs
    cdef Py_ssize_t nblocks
    cdef Py_ssize_t blocks_capacity
    cdef bint runs_code       # constructors and factories of the user's
    cdef dict made            # while it is made: id of a node or record to the address of its struct
    cdef list pending         # records whose fields are not filled yet

    def __init__(self, node):
        if self.root != NULL or self.kept is not None:
            raise RuntimeError("a TypeProgram cannot be initialised again")
        global MISSING
        from typedbytes._records.model import MISSING as missing    # lazy import: start-up time
        MISSING = missing
        self.kept, self.made, self.pending = [node], {}, []
        self.root = self.compile(node)
        while self.pending:
            record = self.pending.pop()
            self.fill_record(<RecordType*><size_t>self.made[id(record)], record)
        self.made = self.pending = None

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.nblocks):
            PyMem_Free(self.blocks[i])
        PyMem_Free(self.blocks)

    def __reduce__(self):
        raise TypeError("a TypeProgram cannot be pickled")

    cdef void* allocate(self, Py_ssize_t count, Py_ssize_t nbytes) except NULL:
        # Zeroed memory that is freed with the program.
        cdef void** blocks
        cdef void* block
        if self.nblocks == self.blocks_capacity:
            blocks = <void**>PyMem_Realloc(self.blocks, (2 * self.blocks_capacity + 16) * sizeof(void*))
            if blocks == NULL:
                raise MemoryError
            self.blocks = blocks
            self.blocks_capacity = 2 * self.blocks_capacity + 16
        block = PyMem_Calloc(max(count, 1), nbytes)
        if block == NULL:
            raise MemoryError
        self.blocks[self.nblocks] = block
        self.nblocks += 1
        return block

    cdef PyObject* keep(self, object value) except NULL:
        self.kept.append(value)
        return <PyObject*>value

    cdef TypeNode* compile(self, object node) except NULL:
        cdef TypeNode* made
        known = None if node.kind == "str" else self.made.get(id(node))    # each field of text has a balance of its own
        if known is not None:
            return <TypeNode*><size_t>known
        made = <TypeNode*>self.allocate(1, sizeof(TypeNode))
        made.balance = FIRST_BALANCE
        self.made[id(node)] = <size_t>made
        if Py_EnterRecursiveCall(" while a type is compiled"):
            raise_pending()
        try:
            self.fill(made, node)
        finally:
            Py_LeaveRecursiveCall()
        return made

    cdef int fill(self, TypeNode* made, object node) except -1:
        if node.kind == "union" and len(node.members) == 2 and "none" in (node.members[0].kind, node.members[1].kind):
            # Optional: the other member, of which None is allowed.
            self.fill(made, node.members[node.members[0].kind == "none"])
            made.allows_none = True
            made.shown = self.keep(node.shown)
            return 0
        made.kind = TYPE_KINDS[node.kind]
        if DATETIME_TYPE_KIND <= made.kind <= DELTA_TYPE_KIND:
            bind_datetime()
        elif made.kind == DECIMAL_TYPE_KIND:
            bind_decimal()
        elif made.kind == UUID_TYPE_KIND:
            bind_uuid()
        made.shown = self.keep(node.shown)
        made.width = WIDTHS[node.width]
        made.unit = UNITS[node.unit]
        made.is_text = bool(node.text)
        made.is_utc = bool(node.utc)
        if node.value_class is not None:
            made.cls = <PyTypeObject*>self.keep(node.value_class)
        if made.kind == RECORD_TYPE:
            made.record = self.compile_record(node.record)
        elif made.kind == DICT_TYPE:
            made.item = self.compile(node.key)
            made.value = self.compile(node.value)
        elif node.item is not None:
            made.item = self.compile(node.item)
        elif made.kind == TUPLE_TYPE or made.kind == UNION_TYPE:
            self.fill_items(made, node.items if made.kind == TUPLE_TYPE else node.members)
            if made.kind == UNION_TYPE:
                self.fill_union(made, node)
        elif made.kind == ENUM_TYPE:
            made.cls = <PyTypeObject*>self.keep(node.cls)
            made.by_name = bool(node.by_name)
            made.has_missing = has_own_missing(node.cls)
            made.names = self.keep(dict(node.names))
            self.runs_code |= made.has_missing
            self.fill_table(made, list(node.by_value.items()) + self.names_of(made, node))
            self.fill_members(made, list({id(member): member for member in node.names.values()}.values()))
        elif made.kind == LITERAL_TYPE:
            made.allows_none = None in node.values
            pairs = {i: (getattr(value, "_value_", value), value) for i, value in enumerate(node.values)}
            self.fill_table(made, list(pairs.values()))
        if made.kind == ENUM_TYPE or made.kind == LITERAL_TYPE:
            made.by_code = <unsigned char*>self.allocate(256, 1)
            for code in written_codes(node) + readable_codes(node):
                made.by_code[<int>code] = 1
        return 0

    cdef int fill_items(self, TypeNode* made, tuple items) except -1:
        cdef Py_ssize_t i
        made.nitems = len(items)
        made.items = <TypeNode**>self.allocate(made.nitems, sizeof(TypeNode*))
        for i in range(made.nitems):
            made.items[i] = self.compile(items[i])
        return 0

    cdef int fill_table(self, TypeNode* made, list pairs) except -1:
        # Numbers close to one another and texts are found without a dict.
        cdef ValueTable* table = <ValueTable*>self.allocate(1, sizeof(ValueTable))
        cdef list texts = [], text_values = []
        cdef dict others = {}
        cdef Py_ssize_t i
        cdef int64_t number
        made.table = table
        table.others = self.keep(others)
        for key, value in pairs:
            try:
                others[type(key), key] = value
            except TypeError:
                pass    # unhashable: no value of the format is equal to it
        self.keep(list(others.items()))
        numbers = {key for kind, key in others if kind is int and -(1 << 62) < key < 1 << 62}
        if numbers and max(numbers) - min(numbers) < MAX_NUMBERS:
            table.first_number = min(numbers)
            table.nnumbers = max(numbers) - min(numbers) + 1
            table.numbers = <PyObject**>self.allocate(table.nnumbers, sizeof(PyObject*))
            for key in numbers:
                number = key
                table.numbers[number - table.first_number] = <PyObject*>others[int, key]
        for (kind, key), value in others.items():
            if kind is str and is_encodable(key):
                texts.append(key)
                text_values.append(value)
        self.fill_names(&table.texts, texts)
        table.text_values = <PyObject**>self.allocate(len(texts), sizeof(PyObject*))
        for i in range(len(texts)):
            table.text_values[i] = <PyObject*>text_values[i]
        return 0

    cdef list names_of(self, TypeNode* made, object node):
        # All where members are written by name: a name may be the value of another member. Else those that no value is
        # equal to, unless a _missing_ is asked first.
        if made.by_name:
            return list(node.names.items())
        if made.has_missing:
            return []
        values = {value for value in node.by_value if type(value) is str}
        return list({name: member for name, member in node.names.items() if name not in values}.items())

    cdef int fill_members(self, TypeNode* made, list members) except -1:
        cdef MemberSlot* slot
        cdef Py_ssize_t i
        cdef bytes encoded
        cdef list texts = []
        for member in members:
            value = member._name_ if made.by_name else member._value_
            if not (type(value) is str and is_encodable(value) or type(value) is int and -(1 << 63) <= value < 1 << 63):
                return 0
            if type(value) is int:
                texts.append(object_from_stolen(bytes_of_scalar(&DEFAULT_ENCODE.template, <PyObject*>value)))
            else:
                texts.append(encoded_name(value))
        made.member_bits = 2
        while 1 << made.member_bits < 2 * len(members):
            made.member_bits += 1
        made.members = <MemberSlot*>self.allocate(1 << made.member_bits, sizeof(MemberSlot))
        for member, encoded in zip(members, texts):
            self.keep(member)
            self.keep(encoded)
            slot = member_slot(made, <PyObject*>member)
            slot.member = <PyObject*>member
            slot.encoded = <const unsigned char*>PyBytes_AS_STRING(encoded)
            slot.nbytes = PyBytes_GET_SIZE(encoded)
        return 0

    cdef int fill_names(self, NameTable* table, list names) except -1:
        cdef Py_ssize_t i, slot, nslots = 4
        cdef int bits = 2
        cdef bytes encoded
        while nslots < 2 * len(names):
            nslots *= 2
            bits += 1
        table.names = <EncodedName*>self.allocate(len(names), sizeof(EncodedName))
        table.slots = <uint32_t*>self.allocate(nslots, sizeof(uint32_t))
        table.shift = 64 - bits
        for i in range(len(names)):
            encoded = encoded_name(names[i])
            self.keep(encoded)
            fill_name(&table.names[i], encoded)
            table.max_nbytes = max(table.max_nbytes, table.names[i].nbytes)
            slot = hash_name(table.names[i].p, table.names[i].nbytes) >> table.shift
            while table.slots[slot]:
                slot = (slot + 1) & (nslots - 1)
            table.slots[slot] = <uint32_t>(i + 1)
        return 0

    cdef int fill_union(self, TypeNode* made, object node) except -1:
        # By type code: first what each member is written as, then what it may be read from besides.
        cdef Py_ssize_t i
        cdef int code
        made.by_code = <unsigned char*>self.allocate(2 * 256, 1)
        if made.nitems >= BY_TAG:
            raise TypeError(f"{node.shown}: a union has {BY_TAG - 1} members at most")
        for i in range(made.nitems):
            made.allows_none |= made.items[i].kind == NONE_TYPE or made.items[i].allows_none
        for codes_of in (written_codes, readable_codes):
            for i in range(made.nitems):
                for code in codes_of(node.members[i]):
                    if not made.by_code[code]:
                        made.by_code[code] = <unsigned char>(i + 1)
        for i in range(made.nitems):
            for code in codes_if_not_strict(node.members[i]):
                if not made.by_code[256 + code]:
                    made.by_code[256 + code] = <unsigned char>(i + 1)
        by_number = {index + 1: member.record for index, member in enumerate(node.members)
                     if member.kind == "record" and member.record.tag}
        if len(by_number) > 1 and len({record.form for record in by_number.values()}) == 1:
            keys = {record.tag[0] for record in by_number.values()}
            tags = {number: (record.tag[1], number) for number, record in by_number.items()}
            self.fill_table(made, list(tags.values()))
            for code in (VECTOR, LIST, MAP):
                if made.by_code[code] in by_number and (code != MAP or len(keys) == 1):
                    made.by_code[code] = BY_TAG
        return 0

    cdef RecordType* compile_record(self, object record) except NULL:
        cdef RecordType* made
        known = self.made.get(id(record))
        if known is not None:
            return <RecordType*><size_t>known
        made = <RecordType*>self.allocate(1, sizeof(RecordType))
        self.made[id(record)] = <size_t>made
        self.keep(record)
        self.pending.append(record)
        return made

    cdef int fill_record(self, RecordType* made, object record) except -1:
        cdef Py_ssize_t i
        fields = tuple(record.fields)
        made.cls = <PyTypeObject*>self.keep(record.cls)
        made.name = self.keep(record.name)
        made.form = VECTOR_FORM if record.form == "VECTOR" else MAP_FORM
        made.make = MAKE_KINDS[record.make]
        made.forbids_unknown = bool(record.forbid_unknown)
        made.allows_extra_items = bool(record.allow_extra_items)
        made.omits_defaults = bool(record.omit_defaults)
        made.has_post_init = bool(record.post_init)
        made.nfields = len(fields)
        made.nodes = <TypeNode**>self.allocate(made.nfields, sizeof(TypeNode*))
        made.offsets = <Py_ssize_t*>self.allocate(made.nfields, sizeof(Py_ssize_t))
        made.attributes = <PyObject**>self.allocate(made.nfields + 1, sizeof(PyObject*))
        made.defaults = <PyObject**>self.allocate(made.nfields, sizeof(PyObject*))
        made.factories = <PyObject**>self.allocate(made.nfields, sizeof(PyObject*))
        made.absents = <PyObject**>self.allocate(made.nfields, sizeof(PyObject*))
        made.required = <bint*>self.allocate(made.nfields, sizeof(bint))
        made.written = <bint*>self.allocate(made.nfields, sizeof(bint))
        if record.tag is not None:
            self.fill_tag(made, record.tag)
        self.fill_names(&made.keys, attributes_of(fields, "key"))
        for i in range(made.nfields):
            self.fill_field(made, i, fields[i])
        self.fill_order(made, fields)
        made.arguments = self.keep(tuple(map(sys.intern, attributes_of(fields, "argument"))))
        self.check_layout(made, fields)
        made.has_gc = PyType_HasFeature(made.cls, Py_TPFLAGS_HAVE_GC)
        made.has_simple_memory = has_simple_memory(made.cls)
        if made.make == MAKE_DICT or made.make == MAKE_CALL:
            self.learn_layout(made)
        self.runs_code |= made.make == MAKE_CALL or made.has_post_init
        return 0

    cdef int fill_order(self, RecordType* made, tuple fields) except -1:
        cdef Py_ssize_t i
        cdef list order = list({i: None for i in range(made.nfields) if made.written[i]})
        keys = {i: encoded_name(fields[i].key) for i in order}
        if made.tag_key != NULL:
            order.insert(0, made.nfields)
            keys[made.nfields] = encoded_name(<object>made.tag_name)
        made.norder = len(order)
        made.order = <Py_ssize_t*>self.allocate(made.norder, sizeof(Py_ssize_t))
        made.sorted_order = <Py_ssize_t*>self.allocate(made.norder, sizeof(Py_ssize_t))
        for i in range(made.norder):
            made.order[i] = order[i]
        order.sort(key=keys.get)
        for i in range(made.norder):
            made.sorted_order[i] = order[i]
        return 0

    cdef int fill_tag(self, RecordType* made, tuple tag) except -1:
        encoded = encoded_name(tag[0])
        self.keep(encoded)
        made.tag_key = <EncodedName*>self.allocate(1, sizeof(EncodedName))
        fill_name(made.tag_key, encoded)
        made.tag_name = made.attributes[made.nfields] = self.keep(tag[0])
        made.tag = self.keep(tag[1])
        return 0

    cdef int fill_field(self, RecordType* made, Py_ssize_t i, object field) except -1:
        made.nodes[i] = self.compile(field.node)
        made.attributes[i] = self.keep(sys.intern(field.name))
        made.required[i] = bool(field.required)
        made.written[i] = bool(field.written)
        if field.default is MISSING and field.factory is None and made.make != MAKE_CALL \
                and made.make != MAKE_TYPEDDICT:
            made.required[i] = True
        if made.required[i]:
            made.nrequired = i + 1
        if field.default is not MISSING:
            made.defaults[i] = self.keep(field.default)
        if field.factory is not None:
            made.factories[i] = self.keep(field.factory)
            self.runs_code |= field.factory not in (
                list, dict, set, tuple, frozenset, bytearray, bytes, str, int, float)
        if field.absent is not MISSING:
            made.absents[i] = self.keep(field.absent)
        return 0

    cdef int check_layout(self, RecordType* made, tuple fields) except -1:
        # Where instances are filled without their class, memory must be as expected; else the class is called.
        cdef Py_ssize_t i
        cls = <object>made.cls
        if made.make == MAKE_TYPEDDICT:
            return 0
        made.is_tuple = issubclass(cls, tuple)
        made.reads_slots = KNOWS_SHARED_LAYOUT
        for i in range(made.nfields):
            made.offsets[i] = slot_offset(made.cls, <PyObject*>fields[i].member)
            made.reads_slots &= made.offsets[i] != 0
        if made.make == MAKE_CALL:
            return 0
        if not has_plain_memory(made.cls):
            made.make = MAKE_CALL
        elif made.make == MAKE_TUPLE:
            if not made.is_tuple or made.cls.tp_itemsize != PyTuple_Type.tp_itemsize:
                made.make = MAKE_CALL
        elif made.make != MAKE_STRUCT and not is_python_class(made.cls):
            made.make = MAKE_CALL
        elif made.make != MAKE_DICT:
            if 0 in {made.offsets[i] for i in range(made.nfields)}:
                made.make = MAKE_DICT    # through its descriptor
        return 0

    cdef int learn_layout(self, RecordType* made) except -1:
        # Where instances without slots have their attributes: found out from one that is made for it,
        # with another object for each.
        cdef PyObject* expected[MAX_ATTRIBUTES]
        cdef Py_ssize_t i
        if not 0 < made.nfields <= MAX_ATTRIBUTES or not has_attribute_array(made.cls):
            return 0
        for base in (<object>made.cls).__mro__:
            for i in range(made.nfields):
                found = base.__dict__.get(<object>made.attributes[i])
                if hasattr(type(found), "__set__") or hasattr(type(found), "__delete__"):
                    return 0
        marks = list({i: object() for i in range(made.nfields)}.values())
        probe = object_from_stolen(plain_instance(made.cls, <PyObject*>NO_ARGUMENTS))
        for i in range(made.nfields):
            mark = marks[i]
            expected[i] = <PyObject*>mark
            PyObject_GenericSetAttr(<PyObject*>probe, made.attributes[i], expected[i])
        learn_attributes(&made.layout, <PyObject*>probe, expected, made.nfields)
        return 0

cdef inline MemberSlot* member_slot(const TypeNode* node, PyObject* member) noexcept:
    # The slot of this member, or the empty one where it would be.
    cdef Py_ssize_t mask = (1 << node.member_bits) - 1
    cdef Py_ssize_t at = <Py_ssize_t>(<uint64_t>member * <uint64_t>0x9e3779b97f4a7c15 >> (64 - node.member_bits))
    while node.members[at].member != NULL and node.members[at].member != member:
        at = (at + 1) & mask
    return &node.members[at]


cdef object MISSING = object()    # of typedbytes._records.model, from the first program on


cdef bint is_encodable(str text) except -1:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
