package org.typedbytes.records;

/**
 * Floats as doubles, and doubles as floats. A cast would set the quiet bit of a signalling NaN; moving the bits keeps
 * every NaN as it is, which is what Python's side does. The jar of block messages has its own: neither needs the other.
 */
final class Floats {
    private Floats() {
    }

    static double widen(float number) {
        if (number == number) {
            return number;
        }
        long bits = Float.floatToRawIntBits(number);
        return Double.longBitsToDouble((bits & 0x80000000L) << 32 | 0x7ff0000000000000L | (bits & 0x7fffff) << 29);
    }

    /** The inverse of {@link #widen}, and for other numbers a cast. */
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
}
