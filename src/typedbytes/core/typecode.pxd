# The names of the type codes and the wire's own limits.
# Knows nothing else; every number here is fixed by the format.

cdef enum:
    BYTES = 0
    BYTE = 1
    BOOL = 2
    INT = 3
    LONG = 4
    FLOAT = 5
    DOUBLE = 6
    STRING = 7
    VECTOR = 8
    LIST = 9
    MAP = 10
    SHORT = 11            # Hive's dialect only
    NULL_CODE = 12        # NULL of Hive's dialect only
    WRITABLE = 50
    PICKLE = 100
    BYTESTRING = 101
    NDARRAY = 102
    ENDOFRECORD = 177     # Hive's dialect only; elsewhere an application code
    MARKER = 255

    FIRST_APPLICATION = 50
    LAST_APPLICATION = 200

# None as every library writes it: code 100, a length, and a pickle of protocol 2.
cdef extern from *:
    """
    #define TB_PICKLED_NONE "\\x64\\0\\0\\0\\x04\\x80\\x02N."
    #define TB_PICKLED_NONE_NBYTES 9
    #define TB_NULL_WRITABLE "\\x32\\0\\0\\0\\x25\\0\\0\\0\\x21" "org.apache.hadoop.io.NullWritable"
    #define TB_NULL_WRITABLE_NBYTES 42
    """
    const char* PICKLED_NONE "TB_PICKLED_NONE"
    const char* ENCODED_NULL_WRITABLE "TB_NULL_WRITABLE"
    enum:
        PICKLED_NONE_NBYTES "TB_PICKLED_NONE_NBYTES"
        ENCODED_NULL_WRITABLE_NBYTES "TB_NULL_WRITABLE_NBYTES"

cdef enum:
    MAX_LENGTH = 0x7fffffff    # lengths and counts are signed 32-bit numbers
