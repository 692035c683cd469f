package org.typedbytes.block;

/** The types of a native message. */
final class Types {
    static final int BYTES = 0;
    static final int BYTE = 1;
    static final int BOOL = 2;
    static final int INT = 3;
    static final int LONG = 4;
    static final int FLOAT = 5;
    static final int DOUBLE = 6;
    static final int STRING = 7;
    static final int ARRAY = 0x20;
    static final int ARROW = 0x21;
    static final int NULL = 0x22;
    static final int COMMAND = 0x23;

    private Types() {
    }

    static boolean isInline(int code) {
        return (code >= BYTE && code <= DOUBLE) || code == NULL;
    }

    static boolean isKnown(int code) {
        return (code >= BYTES && code <= STRING) || (code >= ARRAY && code <= COMMAND) || isNested(code);
    }

    /** The codes of TypedBytes that are carried as encoded values: VECTOR, LIST, MAP and those of applications. */
    static boolean isNested(int code) {
        return (code >= 8 && code <= 10) || (code >= 50 && code <= 200);
    }

    static boolean isInRange(int code, long number) {
        switch (code) {
            case BYTE:
                return number == (byte) number;
            case BOOL:
                return number == 0 || number == 1;
            case INT:
                return number == (int) number;
            case NULL:
                return number == 0;
            default:
                return true;
        }
    }

    /**
     * The double of a float. A cast would set the quiet bit of a signalling NaN; moving the bits keeps every NaN as it
     * is.
     */
    static double widen(float number) {
        if (number == number) {
            return number;
        }
        long bits = Float.floatToRawIntBits(number);
        return Double.longBitsToDouble((bits & 0x80000000L) << 32 | 0x7ff0000000000000L | (bits & 0x7fffff) << 29);
    }

    /** The float of a double: the inverse of {@link #widen}, and for other numbers a cast. */
    static float narrow(double number) {
        if (number == number) {
            return (float) number;
        }
        long bits = Double.doubleToRawLongBits(number);
        int sign = (int) (bits >>> 32) & 0x80000000;
        int payload = (int) (bits >>> 29) & 0x7fffff;
        // A payload in the low bits only is lost: it stays a NaN.
        return Float.intBitsToFloat(sign | 0x7f800000 | (payload == 0 ? 0x400000 : payload));
    }

    /** The value that is stored in an entry itself. */
    static Object inline(int code, long number) {
        switch (code) {
            case BYTE:
                return (byte) number;
            case BOOL:
                return number != 0;
            case INT:
                return (int) number;
            case LONG:
                return number;
            case FLOAT:
                return narrow(Double.longBitsToDouble(number));
            case DOUBLE:
                return Double.longBitsToDouble(number);
            default:
                return null;
        }
    }
}
