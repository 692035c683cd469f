# The opcodes that the other parts use, by their names in Python's pickletools.
# Several in a row, with their arguments, are byte strings.

cdef enum:
    OP_STOP = 0x2e            # .
    OP_MARK = 0x28            # (
    OP_PROTO = 0x80
    OP_FRAME = 0x95

    OP_NONE = 0x4e            # N
    OP_NEWTRUE = 0x88
    OP_NEWFALSE = 0x89
    OP_INT = 0x49             # I
    OP_LONG = 0x4c            # L
    OP_BININT = 0x4a          # J
    OP_BININT1 = 0x4b         # K
    OP_BININT2 = 0x4d         # M
    OP_LONG1 = 0x8a
    OP_LONG4 = 0x8b
    OP_FLOAT = 0x46           # F
    OP_BINFLOAT = 0x47        # G

    OP_UNICODE = 0x56         # V
    OP_BINUNICODE = 0x58      # X
    OP_SHORT_BINUNICODE = 0x8c
    OP_BINUNICODE8 = 0x8d
    OP_STRING = 0x53          # S
    OP_BINSTRING = 0x54       # T
    OP_SHORT_BINSTRING = 0x55 # U
    OP_BINBYTES = 0x42        # B
    OP_SHORT_BINBYTES = 0x43  # C
    OP_BINBYTES8 = 0x8e

    OP_PUT = 0x70             # p
    OP_BINPUT = 0x71          # q
    OP_LONG_BINPUT = 0x72     # r
    OP_MEMOIZE = 0x94
    OP_GET = 0x67             # g
    OP_BINGET = 0x68          # h
    OP_LONG_BINGET = 0x6a     # j

    OP_EMPTY_TUPLE = 0x29     # )
    OP_TUPLE1 = 0x85
    OP_TUPLE2 = 0x86
    OP_TUPLE3 = 0x87
    OP_TUPLE = 0x74           # t
    OP_EMPTY_LIST = 0x5d      # ]
    OP_LIST = 0x6c            # l
    OP_APPEND = 0x61          # a
    OP_APPENDS = 0x65         # e
    OP_EMPTY_DICT = 0x7d      # }
    OP_DICT = 0x64            # d
    OP_SETITEM = 0x73         # s
    OP_SETITEMS = 0x75        # u
    OP_EMPTY_SET = 0x8f
    OP_ADDITEMS = 0x90
    OP_FROZENSET = 0x91

    OP_GLOBAL = 0x63          # c
    OP_STACK_GLOBAL = 0x93
    OP_NEWOBJ = 0x81
    OP_REDUCE = 0x52          # R
    OP_BUILD = 0x62           # b
