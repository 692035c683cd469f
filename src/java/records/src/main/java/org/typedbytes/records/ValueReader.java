package org.typedbytes.records;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;

/** Reads values from bytes. Every declared length and count is compared with the bytes that remain. */
final class ValueReader {
    static final int MAX_DEPTH = 256;
    static final int MAX_NUMBER_LENGTH = 10_000;    // in characters; more take long to convert
    private static final int MAX_SHOWN = 40;
    static final Pattern INTEGER = Pattern.compile("[-+]?[0-9]+");
    static final Pattern DECIMAL = Pattern.compile(
            "[-+]?(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(e[-+]?[0-9]+)?|nan|inf(inity)?)", Pattern.CASE_INSENSITIVE);

    /** Reads what is inside a container: an item, or a pair; its first type code has been read. */
    interface Item {
        void read(int index) throws RecordException;
    }

    private final ByteBuffer data;
    private final boolean strict;
    private int depth;
    /** Of the value begun last: its form, its type code, and the offset of that. */
    private Form form;
    int code;
    int start;

    ValueReader(ByteBuffer data, boolean strict) {
        this.data = data;
        this.strict = strict;
    }

    /** Reads the next type code. */
    void next() throws RecordException {
        start = data.position();
        if (!data.hasRemaining()) {
            throw error("input ends where a value should start", start);
        }
        code = data.get() & 0xff;
    }

    Object read(Form form) throws RecordException {
        next();
        return value(form);
    }

    /** The value whose type code has been read. */
    Object value(Form form) throws RecordException {
        this.form = form;
        return isNull() ? form.ofNull(this) : form.read(this);
    }

    private boolean isNull() throws RecordException {
        if (code == Code.PICKLE) {
            byte[] pickle = bytes();
            int opcodes = pickle.length - 2;
            if ((opcodes == 0 || (opcodes == 2 && pickle[0] == (byte) 0x80 && pickle[1] >= 2 && pickle[1] <= 5))
                    && pickle[opcodes] == 'N' && pickle[opcodes + 1] == '.') {
                return true;
            }
            throw misfit(", and of Python's pickles only None can be read here");
        }
        if (!strict && code == Code.STRING && !form.takesText()) {
            if (text().equalsIgnoreCase("null")) {
                return true;
            }
            data.position(start + 1);
        }
        return code == Code.NULL;
    }

    boolean bool() throws RecordException {
        if (code == Code.BOOL) {
            return fixed(1) != 0;
        }
        if (!strict && code == Code.STRING) {
            String text = text().toLowerCase(Locale.ROOT);
            if (Arrays.asList("0", "1", "false", "true").contains(text)) {
                return text.equals("1") || text.equals("true");
            }
        }
        if (strict || !isInteger()) {
            throw misfit();
        }
        return integer(0, 1) != 0;
    }

    boolean isInteger() {
        return (code >= Code.BYTE && code <= Code.LONG && code != Code.BOOL) || code == Code.SHORT;
    }

    boolean isReal() {
        return code == Code.FLOAT || code == Code.DOUBLE;
    }

    long integer(long least, long most) throws RecordException {
        long value;
        if (isInteger()) {
            value = fixed(code == Code.BYTE ? 1 : code == Code.SHORT ? 2 : code == Code.INT ? 4 : 8);
        } else if (!strict && code == Code.STRING) {
            try {
                value = Long.parseLong(number(INTEGER));
            } catch (NumberFormatException error) {
                throw misfit(", which is out of range");
            }
        } else if (!strict && isReal()) {
            double number = number();
            value = (long) number;
            if (value != number || value == Long.MAX_VALUE) {
                throw misfit();
            }
        } else {
            throw misfit();
        }
        if (value < least || value > most) {
            throw misfit(", which is out of range");
        }
        return value;
    }

    double number() throws RecordException {
        switch (code) {
            case Code.FLOAT:
                return Floats.widen(Float.intBitsToFloat((int) fixed(4)));
            case Code.DOUBLE:
                return Double.longBitsToDouble(fixed(8));
            default:
                if (strict || code != Code.STRING) {
                    return exactly(integer(Long.MIN_VALUE, Long.MAX_VALUE));
                }
                String text = number(DECIMAL).toLowerCase(Locale.ROOT);
                return Double.parseDouble(text.replace("nan", "NaN").replaceFirst("inf.*", "Infinity"));
        }
    }

    private double exactly(long number) throws RecordException {
        double real = number;
        // the largest long that a double holds is below 2^63, to which larger ones are rounded
        if (real >= 0x1p63 || (long) real != number) {
            throw misfit(", which is not exactly a double");
        }
        return real;
    }

    /** The text of a STRING that is a number. */
    String number(Pattern pattern) throws RecordException {
        String text = text();
        if (text.length() > MAX_NUMBER_LENGTH) {
            throw misfit(" of " + text.length() + " characters, more than the " + MAX_NUMBER_LENGTH
                    + " that a number can have");
        }
        if (!pattern.matcher(text).matches()) {
            throw misfit();
        }
        return text;
    }

    String text() throws RecordException {
        if (code != Code.STRING) {
            throw misfit();
        }
        byte[] bytes = bytes();
        String text = new String(bytes, StandardCharsets.UTF_8);
        if (text.indexOf('\ufffd') >= 0 && !Arrays.equals(bytes, text.getBytes(StandardCharsets.UTF_8))) {
            throw error("STRING is not valid UTF-8", start);
        }
        return text;
    }

    /** The bytes of a value that has a length. */
    byte[] bytes() throws RecordException {
        byte[] bytes = new byte[count(1)];
        data.get(bytes);
        return bytes;
    }

    private long fixed(int nbytes) throws RecordException {
        need(nbytes);
        return nbytes == 1 ? data.get() : nbytes == 2 ? data.getShort() : nbytes == 4 ? data.getInt() : data.getLong();
    }

    private int count(int least) throws RecordException {
        int at = start;
        need(4);
        int count = data.getInt();
        if (count < 0) {
            throw error("negative length or count " + count + " of " + Code.name(code), at);
        }
        need((long) count * least);
        return count;
    }

    private void need(long nbytes) throws RecordException {
        if (data.remaining() < nbytes) {
            long more = nbytes - data.remaining();
            throw error("input ends inside " + Code.name(code) + ": at least " + more + " more bytes needed",
                    data.limit());
        }
    }

    // ---- containers

    /** The number of items of a VECTOR; -1 for a LIST, which does not say it. */
    int itemCount() throws RecordException {
        if (code != Code.VECTOR && code != Code.LIST) {
            throw misfit();
        }
        return code == Code.LIST ? -1 : count(1);
    }

    /** Reads so many items; returns how many there were where -1 does not say it. */
    int items(int count, Item item) throws RecordException {
        int index = 0;
        enter();
        while (index != count) {
            next();
            if (count < 0 && code == Code.MARKER) {
                break;
            }
            item.read(index++);
        }
        depth--;
        return index;
    }

    /** Reads the pairs of a MAP. */
    void pairs(Item pair) throws RecordException {
        enter();
        int count = count(2);
        for (int index = 0; index < count; index++) {
            next();
            pair.read(index);
        }
        depth--;
    }

    private void enter() throws RecordException {
        if (++depth > MAX_DEPTH) {
            throw error("containers nest deeper than " + MAX_DEPTH, start);
        }
    }

    /** Passes over the value whose type code has been read. */
    void skip() throws RecordException {
        if (isInteger() || isReal()) {
            number();
        } else if (code == Code.BOOL) {
            fixed(1);
        } else if (code == Code.VECTOR || code == Code.LIST) {
            items(itemCount(), index -> skip());
        } else if (code == Code.MAP) {
            pairs(index -> {
                skip();
                next();
                skip();
            });
        } else if (!Code.isKnown(code)) {
            throw misfit();
        } else if (code != Code.NULL) {
            int nbytes = count(1);
            data.position(data.position() + nbytes);
        }
    }

    // ---- errors

    RecordException misfit() throws RecordException {
        return misfit("");
    }

    /** The error that the value begun last does not fit its form; it is thrown instead that its bytes are wrong. */
    RecordException misfit(String detail) throws RecordException {
        if (!Code.isKnown(code)) {
            return error(code == Code.MARKER ? "MARKER outside a LIST" : "unknown type code " + code, start);
        }
        return error("expected " + form.name + ", found " + Code.name(code) + shown() + detail, start);
    }

    RecordException error(String problem, int offset) {
        return new RecordException(problem, offset, null);
    }

    /** A short scalar after its type code; otherwise nothing. */
    private String shown() throws RecordException {
        data.position(start + 1);
        if (code == Code.STRING) {
            String text = text();
            return text.length() <= MAX_SHOWN ? " " + quoted(text) : "";
        }
        return code == Code.BOOL ? " " + bool() : isReal() ? " " + number()
                : isInteger() ? " " + integer(Long.MIN_VALUE, Long.MAX_VALUE) : "";
    }

    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            int special = "\"\\\b\f\n\r\t".indexOf(c);
            if (special >= 0) {
                quoted.append('\\').append("\"\\bfnrt".charAt(special));
            } else if (c >= 0x20 && c < 0x7f) {
                quoted.append(c);
            } else {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            }
        }
        return quoted.append('"').toString();
    }
}
