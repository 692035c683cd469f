package org.typedbytes.records;

/** The type codes. */
final class Code {
    static final int BYTES = 0;
    static final int BYTE = 1;
    static final int BOOL = 2;
    static final int INT = 3;
    static final int LONG = 4;
    static final int FLOAT = 5;
    static final int DOUBLE = 6;
    static final int STRING = 7;
    static final int VECTOR = 8;
    static final int LIST = 9;
    static final int MAP = 10;
    static final int SHORT = 11;    // Hive's, as is NULL
    static final int NULL = 12;
    static final int WRITABLE = 50;
    static final int PICKLE = 100;
    static final int BYTESTRING = 101;
    static final int NDARRAY = 102;
    static final int MARKER = 255;

    private static final String[] NAMES = {"BYTES", "BYTE", "BOOL", "INT", "LONG", "FLOAT", "DOUBLE", "STRING",
        "VECTOR", "LIST", "MAP", "SHORT", "NULL"};

    private Code() {
    }

    static boolean isKnown(int code) {
        return code < NAMES.length || (code >= WRITABLE && code <= 200);
    }

    static String name(int code) {
        switch (code) {
            case WRITABLE:
                return "WRITABLE";
            case PICKLE:
                return "PICKLE";
            case BYTESTRING:
                return "BYTESTRING";
            case NDARRAY:
                return "NDARRAY";
            default:
                return code < NAMES.length ? NAMES[code] : "type code " + code;
        }
    }
}
