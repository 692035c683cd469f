package org.typedbytes.block;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A value that TypedBytes encodes: a VECTOR, LIST or MAP, or an application code of 50 to 200. It holds its encoded
 * bytes, which are written unchanged; {@link #toJava()} makes objects of them.
 */
public final class Nested {
    private static final int MAX_DEPTH = 256;
    private static final String TOO_DEEP = "containers nest deeper than " + MAX_DEPTH;
    private static final int INITIAL_ITEMS = 1024;    // the initial capacity for the declared number of items
    private static final Object MARKER = new Object();
    private static final int PICKLE = 100;
    private static final byte[] PICKLED_NONE = {(byte) 0x80, 2, 'N', '.'};    // Python's null, which has no code

    private final byte[] encoded;

    /** @param encoded one whole value, its type code first */
    public Nested(byte[] encoded) {
        if (encoded.length == 0) {
            throw new IllegalArgumentException("an encoded value has no bytes");
        }
        this.encoded = encoded;
    }

    /**
     * Encodes a collection: a {@link List} as a LIST, a {@link Map} as a MAP, an {@code Object[]} as a VECTOR. They
     * hold more of them, null, {@code byte[]}, strings and the boxes of bool, byte, int, long, float and double.
     *
     * @throws IllegalArgumentException for an object of another class, for more than 256 levels, and for a Nested
     *     inside that is not one whole value
     */
    public static Nested of(Object collection) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            write(new DataOutputStream(bytes), collection, 0);
        } catch (IOException error) {
            throw new IllegalArgumentException(error);    // not of memory
        }
        return new Nested(bytes.toByteArray());
    }

    private static void write(DataOutputStream out, Object value, int depth) throws IOException {
        if (depth == MAX_DEPTH && (value instanceof List || value instanceof Object[] || value instanceof Map)) {
            throw new IllegalArgumentException(TOO_DEEP);
        }
        if (value instanceof List) {
            out.writeByte(9);
            for (Object item : (List<?>) value) {
                write(out, item, depth + 1);
            }
            out.writeByte(255);
        } else if (value instanceof Object[]) {
            out.writeByte(8);
            out.writeInt(((Object[]) value).length);
            for (Object item : (Object[]) value) {
                write(out, item, depth + 1);
            }
        } else if (value instanceof Map) {
            int count = ((Map<?, ?>) value).size();
            out.writeByte(10);
            out.writeInt(count);
            for (Map.Entry<?, ?> pair : ((Map<?, ?>) value).entrySet()) {
                write(out, pair.getKey(), depth + 1);
                write(out, pair.getValue(), depth + 1);
                count--;
            }
            if (count != 0) {    // the count that was written is wrong
                throw new ConcurrentModificationException("a Map has changed while it was written");
            }
        } else if (value instanceof Nested) {
            if (depth > 0) {
                checkInside((Nested) value, depth);
            }
            out.write(((Nested) value).encoded);
        } else {
            writeScalar(out, value);
        }
    }

    private static void writeScalar(DataOutputStream out, Object value) throws IOException {
        if (value == null || value instanceof byte[] || value instanceof String) {
            byte[] data = value == null ? PICKLED_NONE : value instanceof String ? Utf8.encode((String) value)
                    : (byte[]) value;
            out.writeByte(value == null ? PICKLE : value instanceof String ? Types.STRING : Types.BYTES);
            out.writeInt(data.length);
            out.write(data);
        } else if (value instanceof Byte) {
            out.writeByte(Types.BYTE);
            out.writeByte((Byte) value);
        } else if (value instanceof Boolean) {
            out.writeByte(Types.BOOL);
            out.writeBoolean((Boolean) value);
        } else if (value instanceof Integer) {
            out.writeByte(Types.INT);
            out.writeInt((Integer) value);
        } else if (value instanceof Long) {
            out.writeByte(Types.LONG);
            out.writeLong((Long) value);
        } else if (value instanceof Float) {
            out.writeByte(Types.FLOAT);
            out.writeInt(Float.floatToRawIntBits((Float) value));    // writeFloat() would change the bits of a NaN
        } else if (value instanceof Double) {
            out.writeByte(Types.DOUBLE);
            out.writeLong(Double.doubleToRawLongBits((Double) value));
        } else {
            throw new IllegalArgumentException("a collection cannot hold " + value.getClass().getTypeName());
        }
    }

    /** Refuses encoded bytes that would make a collection one which no reader takes. */
    private static void checkInside(Nested value, int depth) {
        ByteBuffer in = ByteBuffer.wrap(value.encoded);
        try {
            if (!skip(in, depth) || in.hasRemaining()) {
                throw new BlockException("bytes after the value", in.position(), -1);
            }
        } catch (BlockException error) {
            throw new IllegalArgumentException("a Nested in a collection: " + error.getMessage(), error);
        }
    }

    /** Passes over a value, without making it; false: it was a MARKER. */
    private static boolean skip(ByteBuffer in, int depth) throws BlockException {
        need(in, 1);
        int code = in.get() & 0xff;
        if (code == 255) {
            return false;
        }
        if (code >= 8 && code <= 10) {
            check(in, depth + 1);
            long count = code == 9 ? Long.MAX_VALUE : code == 8 ? count(in, 1) : 2L * count(in, 2);
            boolean isItem = true;
            for (; isItem && count > 0; count--) {
                isItem = skip(in, depth + 1);
            }
            if (!isItem && code != 9) {
                throw new BlockException("a MARKER outside a LIST", in.position() - 1, -1);
            }
            return true;
        }
        if (code > Types.STRING && (code < 50 || code > 200)) {
            throw new BlockException("unknown type code " + code, in.position() - 1, -1);
        }
        int nbytes = code == Types.BYTE || code == Types.BOOL ? 1 : code == Types.INT || code == Types.FLOAT ? 4
                : code == Types.LONG || code == Types.DOUBLE ? 8 : count(in, 1);
        need(in, nbytes);
        in.position(in.position() + nbytes);
        return true;
    }

    /** The type code. */
    public int code() {
        return encoded[0] & 0xff;
    }

    /** The bytes, the type code first; not a copy. */
    public byte[] encoded() {
        return encoded;
    }

    /**
     * The value: an {@link ArrayList} for a VECTOR or LIST, a {@link HashMap} for a MAP, null for None,
     * {@code byte[]} for BYTES and other application codes, boxes and strings for the rest.
     *
     * @throws BlockException for malformed bytes, and for a MAP with more than 256 keys of one hash value that have no
     *     order, as lists, since each would be compared with all; its offset counts from the type code
     */
    public Object toJava() throws BlockException {
        ByteBuffer in = ByteBuffer.wrap(encoded);
        Object value = value(in, 0);
        if (value == MARKER || in.hasRemaining()) {
            throw new BlockException("bytes after the value", in.position(), -1);
        }
        return value;
    }

    private static Object value(ByteBuffer in, int depth) throws BlockException {
        need(in, 1);
        int code = in.get() & 0xff;
        switch (code) {
            case 0:
                return sized(in);
            case 1:
                need(in, 1);
                return in.get();
            case 2:
                need(in, 1);
                return in.get() != 0;
            case 3:
                need(in, 4);
                return in.getInt();
            case 4:
                need(in, 8);
                return in.getLong();
            case 5:
                need(in, 4);
                return in.getFloat();
            case 6:
                need(in, 8);
                return in.getDouble();
            case 7:
                int start = in.position() + 4;
                return Utf8.decode(sized(in), start, -1);
            case 8:
            case 9:
                return list(in, code, depth + 1);
            case 10:
                return map(in, depth + 1);
            case 255:
                return MARKER;
            default:
                if (code < 50 || code > 200) {
                    throw new BlockException("unknown type code " + code, in.position() - 1, -1);
                }
                byte[] data = sized(in);
                return code == PICKLE && Arrays.equals(data, PICKLED_NONE) ? null : data;
        }
    }

    private static List<Object> list(ByteBuffer in, int code, int depth) throws BlockException {
        check(in, depth);
        int count = code == 8 ? count(in, 1) : Integer.MAX_VALUE;
        List<Object> items = new ArrayList<>(code == 8 ? Math.min(count, INITIAL_ITEMS) : 10);
        while (items.size() < count) {
            Object item = value(in, depth);
            if (item == MARKER) {
                if (code == 9) {
                    return items;
                }
                throw new BlockException("a MARKER outside a LIST", in.position() - 1, -1);
            }
            items.add(item);
        }
        return items;
    }

    private static Map<Object, Object> map(ByteBuffer in, int depth) throws BlockException {
        check(in, depth);
        int count = count(in, 2);
        Map<Object, Object> pairs = new HashMap<>(Math.min(count + count / 2, INITIAL_ITEMS) + 1);
        Alike alike = new Alike();
        for (int i = 0; i < count; i++) {
            Object key = value(in, depth);
            Object item = value(in, depth);
            if (key == MARKER || item == MARKER) {
                throw new BlockException("a MARKER outside a LIST", in.position() - 1, -1);
            }
            int before = pairs.size();
            pairs.put(key, item);
            if (pairs.size() > before && alike.areTooMany(key)) {
                throw new BlockException("a MAP with too many keys of one hash value", in.position(), -1);
            }
        }
        return pairs;
    }

    /**
     * The keys of a map that it finds among those of the same hash value by comparing with all; others have an order.
     */
    private static final class Alike {
        private static final int MOST = 256;

        private Class<?> kind;
        private Map<Integer, Integer> counts;

        /** Takes a new key; whether it is one too many. */
        boolean areTooMany(Object key) {
            if (key == null || key instanceof byte[]) {    // another array is another key
                return false;
            }
            if (kind == null) {
                kind = key.getClass();
            }
            if (counts == null && (key.getClass() != kind || !(key instanceof Comparable))) {
                counts = new HashMap<>();
            }
            return counts != null && counts.merge(key.hashCode(), 1, Integer::sum) > MOST;
        }
    }

    private static byte[] sized(ByteBuffer in) throws BlockException {
        byte[] data = new byte[count(in, 1)];
        in.get(data);
        return data;
    }

    /** A length or count, for which enough bytes remain. */
    private static int count(ByteBuffer in, int least) throws BlockException {
        need(in, 4);
        int count = in.getInt();
        if (count < 0 || count > in.remaining() / least) {
            String message = "length or count " + count + " with " + in.remaining() + " bytes left";
            throw new BlockException(message, in.position() - 4, -1);
        }
        return count;
    }

    private static void check(ByteBuffer in, int depth) throws BlockException {
        if (depth > MAX_DEPTH) {
            throw new BlockException(TOO_DEEP, in.position() - 1, -1);
        }
    }

    private static void need(ByteBuffer in, int nbytes) throws BlockException {
        if (in.remaining() < nbytes) {
            throw new BlockException("the nested value is cut off", in.limit(), -1);
        }
    }

    /** Strict UTF-8 with the faster lenient methods of String, whose result is checked. */
    static final class Utf8 {
        private Utf8() {
        }

        static String decode(byte[] data, long offset, int entry) throws BlockException {
            String text = new String(data, StandardCharsets.UTF_8);
            if (text.indexOf('\ufffd') >= 0 && !Arrays.equals(data, text.getBytes(StandardCharsets.UTF_8))) {
                throw new BlockException("text is not UTF-8", offset, entry);
            }
            return text;
        }

        static byte[] encode(String text) {
            byte[] data = text.getBytes(StandardCharsets.UTF_8);
            for (int i = 0; i < text.length(); i++) {
                if (Character.isSurrogate(text.charAt(i))) {
                    return encodeStrictly(text);
                }
            }
            return data;
        }

        private static byte[] encodeStrictly(String text) {
            try {
                ByteBuffer out = StandardCharsets.UTF_8.newEncoder().encode(java.nio.CharBuffer.wrap(text));
                byte[] data = new byte[out.remaining()];
                out.get(data);
                return data;
            } catch (java.nio.charset.CharacterCodingException error) {
                throw new IllegalArgumentException("text contains an unpaired surrogate, which UTF-8 cannot encode",
                        error);
            }
        }
    }
}
