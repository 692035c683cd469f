package org.typedbytes.vectors;

/** Bytes as lower-case hexadecimal digits and back. */
final class Hex {
    private static final char[] DIGITS = "0123456789abcdef".toCharArray();

    private Hex() {}

    static String of(byte[] data) {
        return of(data, data.length);
    }

    /** The digits of the first {@code nbytes} bytes: Hadoop's buffers are longer than what they hold. */
    static String of(byte[] data, int nbytes) {
        StringBuilder text = new StringBuilder(2 * nbytes);
        for (int i = 0; i < nbytes; i++) {
            text.append(DIGITS[data[i] >> 4 & 0xf]).append(DIGITS[data[i] & 0xf]);
        }
        return text.toString();
    }

    static byte[] parse(String digits) {
        byte[] data = new byte[digits.length() / 2];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
        }
        return data;
    }
}
