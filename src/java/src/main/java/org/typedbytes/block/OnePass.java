package org.typedbytes.block;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Small native messages, table and body in one pass: of scalars, text and bytes, without a checksum, whole in a buffer.
 * What is not such a message, and what is wrong in one, is left to {@link BlockReader} and {@link BlockWriter}, which
 * go over the table first. The last command and a buffer for short text are kept, so that only values are made; hence
 * one OnePass serves one thread at a time.
 */
final class OnePass {
    static final int START = 0xf5424201;
    static final int LITTLE_ARRAYS = 1;
    static final int CHECKSUM = 2;
    static final int REPLY_WANTED = 4;
    static final int LOG2_ALIGNMENT = 3;
    static final int HEAD_SIZE = 24;
    static final int ENTRY_SIZE = 16;
    private static final int MAX_BODY = 1 << 18;
    private static final int MAX_COUNT = 1 << 12;
    private static final int SHORT_TEXT = 256;

    private final byte[] shortText = new byte[SHORT_TEXT];
    private byte[] latestBytes = {};
    private Command latest = new Command("");

    // ---- reading

    /** The values of a message whose table comes next in the buffer; null, and nothing is consumed, for all others. */
    List<Object> read(ByteBuffer buffer, int count, long body, int mask) {
        int table = buffer.position();
        if (count > MAX_COUNT || body > MAX_BODY || buffer.remaining() < count * ENTRY_SIZE + (int) body) {
            return null;
        }
        int start = table + count * ENTRY_SIZE;
        int end = start + (int) body;
        int next = start;
        Object[] values = new Object[count];
        for (int i = 0; i < count; i++) {
            long head = buffer.getLong(table + i * ENTRY_SIZE);
            long number = buffer.getLong(table + i * ENTRY_SIZE + 8);
            int code = (int) (head >>> 56);
            if (head << 8 != 0 || !Types.isInRange(code, number)) {
                return null;
            }
            if (Types.isInline(code)) {
                values[i] = Types.inline(code, number);
                continue;
            }
            for (; ((next - start) & mask) != 0; next++) {
                if (next == end || buffer.get(next) != 0) {
                    return null;
                }
            }
            if (number < 0 || number > end - next) {
                return null;
            }
            buffer.position(next);
            next += (int) number;
            Object value = code == Types.BYTES ? bytes(buffer, (int) number)
                    : code == Types.STRING ? text(buffer, (int) number)
                    : code == Types.COMMAND ? command(buffer, (int) number) : null;
            buffer.position(table);
            if (value == null) {
                return null;
            }
            values[i] = value;
        }
        if (next != end) {
            return null;
        }
        buffer.position(end);
        return Arrays.asList(values);
    }

    private static byte[] bytes(ByteBuffer buffer, int nbytes) {
        byte[] data = new byte[nbytes];
        buffer.get(data);
        return data;
    }

    /** Null where it may not be UTF-8. */
    private String text(ByteBuffer buffer, int nbytes) {
        byte[] data = nbytes <= SHORT_TEXT ? shortText : new byte[nbytes];
        buffer.get(data, 0, nbytes);
        String text = new String(data, 0, nbytes, StandardCharsets.UTF_8);
        return text.indexOf('\ufffd') < 0 ? text : null;
    }

    /** The latest, if it is the same. */
    private Command command(ByteBuffer buffer, int nbytes) {
        int start = buffer.position();
        boolean isSame = nbytes == latestBytes.length;
        for (int i = 0; isSame && i < nbytes; i++) {
            isSame = buffer.get(start + i) == latestBytes[i];
        }
        if (isSame) {
            return latest;
        }
        String text = text(buffer, nbytes);
        Command command = text == null ? null : new Command(text);
        if (command != null && nbytes <= SHORT_TEXT) {
            latest = command;
            latestBytes = Arrays.copyOf(shortText, nbytes);
        }
        return command;
    }

    // ---- writing

    /** Puts a message into an empty buffer; false, and nothing is put, where it is not for this pass. */
    boolean put(Message message, ByteBuffer buffer) {
        List<Object> values = message.values;
        int count = values.size();
        if (count > MAX_COUNT) {
            return false;
        }
        int start = HEAD_SIZE + count * ENTRY_SIZE;
        int next = start;
        for (int i = 0; i < count; i++) {
            Object value = values.get(i);
            int type;
            long number;
            if (value instanceof String || value instanceof Command || value instanceof byte[]) {
                type = value instanceof byte[] ? Types.BYTES : value instanceof String ? Types.STRING : Types.COMMAND;
                for (; (next & 7) != 0; next++) {    // as from the start of the body
                    buffer.put(next, (byte) 0);
                }
                int space = buffer.capacity() - 8 - next;
                buffer.position(next);
                number = type == Types.BYTES ? put((byte[]) value, buffer, space)
                        : put(value.toString(), buffer, space);
                buffer.position(0);
                if (number < 0) {
                    return false;
                }
                next += (int) number;
            } else if (value instanceof Integer) {
                type = Types.INT;
                number = (Integer) value;
            } else if (value instanceof Long) {
                type = Types.LONG;
                number = (Long) value;
            } else if (value instanceof Double) {
                type = Types.DOUBLE;
                number = Double.doubleToRawLongBits((Double) value);
            } else if (value instanceof Boolean) {
                type = Types.BOOL;
                number = (Boolean) value ? 1 : 0;
            } else if (value == null) {
                type = Types.NULL;
                number = 0;
            } else {
                return false;
            }
            buffer.putLong(HEAD_SIZE + i * ENTRY_SIZE, (long) type << 56);
            buffer.putLong(HEAD_SIZE + i * ENTRY_SIZE + 8, number);
        }
        buffer.putInt(0, START);
        buffer.putInt(4, (LITTLE_ARRAYS | (message.wantsReply ? REPLY_WANTED : 0)) << 24 | LOG2_ALIGNMENT << 16);
        buffer.putInt(8, count);
        buffer.putInt(12, (int) message.id);
        buffer.putLong(16, next - start);
        buffer.position(next);
        return true;
    }

    /** How many bytes; -1 where there is too little space. */
    private static int put(byte[] data, ByteBuffer buffer, int space) {
        if (data.length > space) {
            return -1;
        }
        buffer.put(data);
        return data.length;
    }

    /** As of bytes; -1 also where it is long, or not ASCII. */
    private int put(String text, ByteBuffer buffer, int space) {
        int length = text.length();
        if (length > SHORT_TEXT || length > space) {
            return -1;
        }
        for (int i = 0; i < length; i++) {
            char letter = text.charAt(i);
            if (letter >= 0x80) {
                return -1;
            }
            shortText[i] = (byte) letter;
        }
        buffer.put(shortText, 0, length);
        return length;
    }
}
