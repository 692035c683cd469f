package org.typedbytes.block;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads messages from a channel in blocking mode: a socket, a pipe or a file.
 *
 * <p>One direct buffer is reused. A declared length is not allocated in advance: a value takes at most 1 MiB,
 * or eight times the bytes of it that have been read. A reader that threw an exception throws
 * IllegalStateException at every later call.
 *
 * <pre>{@code
 * BlockReader reader = new BlockReader(channel, Wire.BYTES);
 * for (Message message = reader.read(); message != null; message = reader.read()) { ... }
 * }</pre>
 */
public final class BlockReader {
    /** Bytes of the buffer. */
    public static final int BUFFER_SIZE = 1 << 18;
    private static final int MAX_ALLOCATION = 1 << 20;
    private static final int NATIVE_START = 0xf5;
    private static final int HEAD_SIZE = OnePass.HEAD_SIZE;
    private static final int ENTRY_SIZE = OnePass.ENTRY_SIZE;

    private static final Pattern DECIMAL = Pattern.compile("[-+]?[0-9.]+(e[-+]?[0-9]+)?", Pattern.CASE_INSENSITIVE);
    private static final Pattern NOT_FINITE = Pattern.compile("[-+]?(?:(nan)|inf(?:inity)?)", Pattern.CASE_INSENSITIVE);

    static final int BYTES = 0;
    static final int STRING = 1;
    static final int COMMAND = 2;
    static final int INT = 3;
    static final int LONG = 4;
    static final int DOUBLE = 5;

    private final ReadableByteChannel channel;
    private final Wire wire;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_SIZE);
    private long bufferOffset;
    private long frameEnd = Long.MAX_VALUE;
    private int entry = -1;
    private final long[] shortTable = new long[64];
    private final OnePass onePass = new OnePass();
    private Crc32c crc;
    private boolean failed;

    /** @param wire the legacy layout to expect, or NATIVE for native messages only; these are always recognised */
    public BlockReader(ReadableByteChannel channel, Wire wire) {
        this.channel = channel;
        this.wire = wire;
        buffer.limit(0);
    }

    /**
     * The next message, or null where the input ends between two messages.
     *
     * @throws BlockException for malformed bytes
     * @throws EOFException when the input ends inside a message
     * @throws IllegalStateException when an earlier call threw an exception
     */
    public Message read() throws IOException {
        if (failed) {
            throw new IllegalStateException("an earlier message was not read to its end");
        }
        failed = true;
        Message message = next();
        failed = false;
        return message;
    }

    /** Whether an earlier call threw an exception. */
    boolean hasFailed() {
        return failed;
    }

    private Message next() throws IOException {
        entry = -1;
        frameEnd = Long.MAX_VALUE;
        crc = null;
        if (!buffer.hasRemaining() && !fill(1)) {
            return null;
        }
        if ((buffer.get(buffer.position()) & 0xff) == NATIVE_START) {
            return readNative();
        }
        switch (wire) {
            case NATIVE:
                throw bad("a native message starts with f5", 0);
            case LINE:
                return new Message(wire, readLines());
            case TOTAL:
                need(4);
                int total = buffer.getInt();
                if (total < 4) {
                    throw bad(total + " bytes cannot hold a message", -4);
                }
                frameEnd = offset() + total;
                break;
            default:
        }
        need(4);
        int count = buffer.getInt();
        if (count < 0) {
            throw bad("negative number of values " + count, -4);
        }
        List<Object> values = wire == Wire.HEADER ? readWithTable(count) : readArguments(count);
        if (frameEnd != Long.MAX_VALUE && offset() != frameEnd) {
            throw bad("bytes remain in the message after its last value", 0);
        }
        return new Message(wire, values);
    }

    private List<Object> readArguments(int count) throws IOException {
        List<Object> values = new ArrayList<>(Math.min(count, 1024));
        for (entry = 0; entry < count; entry++) {
            int type;
            if (wire == Wire.TYPE8) {
                need(1);
                type = buffer.get() & 0xff;
            } else {
                need(4);
                type = buffer.getInt();
            }
            if (type < BYTES || type > DOUBLE) {
                throw bad("unknown type " + type + " in a legacy layout", wire == Wire.TYPE8 ? -1 : -4);
            }
            if (type <= COMMAND || wire == Wire.BLOCK) {
                values.add(value(type, readLength()));
            } else {
                values.add(readNumber(type));
            }
        }
        return values;
    }

    /** The bytes of an INT, LONG or DOUBLE in binary. */
    static int numberSize(int type) {
        return type == INT ? 4 : 8;
    }

    private Object readNumber(int type) throws IOException {
        need(numberSize(type));
        return type == INT ? (Object) buffer.getInt() : type == LONG ? (Object) buffer.getLong()
                : (Object) buffer.getDouble();
    }

    private int readLength() throws IOException {
        need(4);
        int length = buffer.getInt();
        if (length < 0) {
            throw bad("negative length " + length, -4);
        }
        return length;
    }

    private List<Object> readWithTable(int count) throws IOException {
        int[] table = new int[2 * Math.min(count, 1024)];
        for (entry = 0; entry < count; entry++) {
            if (2 * entry == table.length) {
                table = Arrays.copyOf(table, (int) Math.min(2L * count, 2L * table.length));
            }
            need(8);
            table[2 * entry] = buffer.getInt();
            if (table[2 * entry] < BYTES || table[2 * entry] > DOUBLE) {
                throw bad("unknown type " + table[2 * entry] + " in a legacy layout", -4);
            }
            int length = readLength();
            if (table[2 * entry] > COMMAND && length != numberSize(table[2 * entry])) {
                throw bad("a number of type " + table[2 * entry] + " has " + numberSize(table[2 * entry])
                        + " bytes, not " + length, -4);
            }
            table[2 * entry + 1] = length;
        }
        List<Object> values = new ArrayList<>(count);
        for (entry = 0; entry < count; entry++) {
            int type = table[2 * entry];
            values.add(type > COMMAND ? readNumber(type) : value(type, table[2 * entry + 1]));
        }
        return values;
    }

    /** A value with a length. Numbers are text: where they are binary, they are not read here. */
    private Object value(int type, int length) throws IOException {
        long start = offset();
        byte[] data = readBytes(length);
        if (type == BYTES) {
            return data;
        }
        if (type > COMMAND) {
            return number(type, new String(data, StandardCharsets.ISO_8859_1), start);
        }
        String text = Nested.Utf8.decode(data, start, entry);
        return type == COMMAND ? (Object) new Command(text) : text;
    }

    private Object number(int type, String text, long start) throws BlockException {
        try {
            if (type == DOUBLE) {
                return parseDouble(text);
            }
            if (text.startsWith("+") || text.length() > (text.startsWith("-") ? 21 : 20)) {
                throw new NumberFormatException();
            }
            return type == INT ? (Object) Integer.valueOf(text) : (Object) Long.valueOf(text);
        } catch (NumberFormatException error) {
            throw new BlockException("not a number of type " + type, start, entry);
        }
    }

    /**
     * In the spelling of Java or Python; other texts that {@link Double#valueOf} accepts,
     * such as "1f" and " 1", are refused.
     */
    private static Double parseDouble(String text) {
        if (DECIMAL.matcher(text).matches()) {
            return Double.valueOf(text);
        }
        Matcher word = NOT_FINITE.matcher(text);
        if (!word.matches()) {
            throw new NumberFormatException();
        }
        return word.group(1) != null ? Double.NaN : text.startsWith("-") ? Double.NEGATIVE_INFINITY
                : Double.POSITIVE_INFINITY;
    }

    // ---- lines

    private List<Object> readLines() throws IOException {
        List<Object> values = new ArrayList<>();
        for (entry = 0; ; entry++) {
            need(2);
            int type = buffer.get();
            if (buffer.get() != '\n' || (type != 'e' && (type < '0' || type > '5'))) {
                throw bad("expected a line with a type digit 0..5, or the end line", -2);
            }
            if (type == 'e') {
                return values;
            }
            long start = offset();
            byte[] text = readLine();
            values.add(lineValue(type - '0', text, start));
        }
    }

    private byte[] readLine() throws IOException {
        byte[] text = new byte[128];
        int length = 0;
        while (true) {
            need(1);
            int start = buffer.position();
            int end = start;
            while (end < buffer.limit() && buffer.get(end) != '\n') {
                end++;
            }
            if (end - start > text.length - length) {
                if (end - start > Integer.MAX_VALUE - 16 - length) {
                    throw bad("a line is too long for this reader", 0);
                }
                text = Arrays.copyOf(text,
                        (int) Math.max(length + end - start, Math.min(2L * length, Integer.MAX_VALUE - 16)));
            }
            buffer.get(text, length, end - start);
            length += end - start;
            if (buffer.hasRemaining()) {
                buffer.get();
                return Arrays.copyOf(text, length);
            }
        }
    }

    private Object lineValue(int type, byte[] text, long start) throws IOException {
        if (type == BYTES) {
            try {
                byte[] data = Base64.getDecoder().decode(text);
                if (Arrays.equals(Base64.getEncoder().encode(data), text)) {    // with its padding
                    return data;
                }
            } catch (IllegalArgumentException error) {
                // Reported below.
            }
            throw new BlockException("bytes are not valid base64", start, entry);
        }
        if (type > COMMAND) {
            return number(type, new String(text, StandardCharsets.ISO_8859_1), start);
        }
        byte[] plain = new byte[text.length];
        int length = 0;
        for (int i = 0; i < text.length; i++) {
            byte next = text[i];
            if (next == '\\' && type == STRING) {
                next = ++i == text.length ? 0 : text[i] == 'n' ? (byte) '\n' : text[i] == 'r' ? (byte) '\r' : text[i];
                if (next != '\\' && next != '\n' && next != '\r') {
                    throw new BlockException("invalid escape sequence", start, entry);
                }
            } else if (next == '\r') {
                throw new BlockException(type == STRING ? "a CR that is not escaped" : "a CR in a command", start,
                        entry);
            }
            plain[length++] = next;
        }
        String decoded = Nested.Utf8.decode(Arrays.copyOf(plain, length), start, entry);
        return type == COMMAND ? (Object) new Command(decoded) : decoded;
    }

    // ---- the native format

    private Message readNative() throws IOException {
        need(4);
        if (buffer.getInt(buffer.position()) != OnePass.START) {
            throw bad("not a native message, or an unknown version", 0);
        }
        need(HEAD_SIZE);
        int at = buffer.position();
        int flags = buffer.get(at + 4) & 0xff;
        int log2 = buffer.get(at + 5);
        if ((flags & ~7) != 0) {
            throw bad("unknown flags " + flags, 4);
        }
        if (log2 != 0 && log2 != 3 && log2 != 6) {
            throw bad("the log2 of the alignment must be 0, 3 or 6, not " + log2, 5);
        }
        if (buffer.getShort(at + 6) != 0) {
            throw bad("reserved bytes are not zero", 6);
        }
        int count = buffer.getInt(at + 8);
        long id = buffer.getInt(at + 12) & 0xffffffffL;
        long body = buffer.getLong(at + 16);
        if (count < 0 || count > (Integer.MAX_VALUE - 16) / 2 || body < 0) {
            throw bad("a message of " + (count & 0xffffffffL) + " values and " + body
                    + " bytes is too large for this reader", 8);
        }
        if ((flags & OnePass.CHECKSUM) != 0) {
            crc = new Crc32c();
            crc.update(buffer, at, at + HEAD_SIZE);
        }
        buffer.position(at + HEAD_SIZE);
        int mask = (1 << log2) - 1;
        List<Object> values = crc == null ? onePass.read(buffer, count, body, mask) : null;
        if (values == null) {
            values = readBody(readTable(count, body, mask), count, mask, (flags & OnePass.LITTLE_ARRAYS) != 0);
        }
        entry = -1;
        if (crc != null) {
            int right = crc.value();
            crc = null;
            need(4);
            if (buffer.getInt() != right) {
                throw bad("the checksum is wrong", -4);
            }
        }
        return new Message(Wire.NATIVE, id, (flags & OnePass.REPLY_WANTED) != 0, values);
    }

    private long[] readTable(int count, long body, long mask) throws IOException {
        long[] table = 2 * count <= shortTable.length ? shortTable : new long[2 * Math.min(count, 1024)];
        long end = 0;
        for (entry = 0; entry < count; entry++) {
            if (2 * entry == table.length) {
                table = Arrays.copyOf(table, (int) Math.min(2L * count, 2L * table.length));
            }
            need(ENTRY_SIZE);
            if (crc != null) {
                crc.update(buffer, buffer.position(), buffer.position() + ENTRY_SIZE);
            }
            long head = buffer.getLong();
            long number = buffer.getLong();
            int code = (int) (head >>> 56);
            if (!Types.isKnown(code) || (head & 0xffffffffffL) != 0 || (code != Types.ARRAY && head << 8 != 0)
                    || !Types.isInRange(code, number)) {
                throw bad("invalid entry of a native message", -ENTRY_SIZE);
            }
            if (!Types.isInline(code)) {
                end = (end + mask) & ~mask;
                if (number < 0 || number > body - end) {
                    throw bad("a value of " + number + " bytes ends after the body of " + body, -8);
                }
                end += number;
            }
            table[2 * entry] = head;
            table[2 * entry + 1] = number;
        }
        if (end != body) {
            entry = -1;
            throw bad("the body has " + body + " bytes, its values have " + end, 0);
        }
        return table;
    }

    private List<Object> readBody(long[] table, int count, int mask, boolean little) throws IOException {
        List<Object> values = new ArrayList<>(count);
        long start = offset();
        for (entry = 0; entry < count; entry++) {
            int code = (int) (table[2 * entry] >>> 56);
            long number = table[2 * entry + 1];
            if (Types.isInline(code)) {
                values.add(Types.inline(code, number));
                continue;
            }
            int padding = (int) -(offset() - start) & mask;
            need(padding);
            if (crc != null) {
                crc.update(buffer, buffer.position(), buffer.position() + padding);
            }
            for (int i = 1; i <= padding; i++) {
                if (buffer.get() != 0) {
                    throw bad("the padding between values is not zero", -i);
                }
            }
            if (number > Integer.MAX_VALUE - 16) {
                throw bad("a value of " + number + " bytes is too large for this reader", 0);
            }
            values.add(bodyValue(table[2 * entry], (int) number, little));
        }
        return values;
    }

    private Object bodyValue(long head, int nbytes, boolean little) throws IOException {
        int code = (int) (head >>> 56);
        long start = offset();
        byte[] data = readBytes(nbytes);
        switch (code) {
            case Types.BYTES:
                return data;
            case Types.STRING:
                return Nested.Utf8.decode(data, start, entry);
            case Types.COMMAND:
                return new Command(Nested.Utf8.decode(data, start, entry));
            case Types.ARROW:
                return new ArrowStream(data);
            case Types.ARRAY:
                return array((int) (head >>> 48) & 0xff, (int) (head >>> 40) & 0xff, data, little, start);
            default:
                if (nbytes == 0 || (data[0] & 0xff) != code) {
                    throw new BlockException("the nested value does not start with its code " + code, start, entry);
                }
                return new Nested(data);
        }
    }

    private ArrayValue array(int element, int ndim, byte[] data, boolean little, long start) throws BlockException {
        ByteBuffer body = ByteBuffer.wrap(data);
        if (element >= ArrayValue.Element.values().length || 8L * ndim > data.length) {
            throw new BlockException("no array", start, entry);
        }
        long[] shape = new long[ndim];
        for (int i = 0; i < ndim; i++) {
            shape[i] = body.getLong();
        }
        body.order(little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        try {
            return new ArrayValue(ArrayValue.Element.values()[element], shape, body);
        } catch (IllegalArgumentException | ArithmeticException error) {
            throw new BlockException(error.getMessage(), start, entry);
        }
    }

    // ---- bytes

    /** The offset in the input of what is read next. */
    public long offset() {
        return bufferOffset + buffer.position();
    }

    private BlockException bad(String message, int at) {
        return new BlockException(message, offset() + at, entry);
    }

    private void need(int nbytes) throws IOException {
        if (nbytes > frameEnd - offset()) {
            throw bad("a value of the message extends past its end", 0);
        }
        if (buffer.remaining() < nbytes && !fill(nbytes)) {
            throw new EOFException("input ends inside a message at offset " + (bufferOffset + buffer.limit()));
        }
    }

    /** Whether this number of bytes, at most the size of the buffer, is available. */
    private boolean fill(int nbytes) throws IOException {
        if (buffer.capacity() - buffer.position() < nbytes || !buffer.hasRemaining()) {
            bufferOffset += buffer.position();
            buffer.compact();
            buffer.flip();
        }
        int start = buffer.position();
        int end = buffer.limit();
        while (end - start < nbytes) {
            buffer.limit(buffer.capacity());
            buffer.position(end);
            int got;
            try {
                got = channel.read(buffer);
            } finally {
                end = buffer.position();
                buffer.limit(end);
                buffer.position(start);
            }
            if (got < 0) {
                return false;
            }
        }
        return true;
    }

    private byte[] readBytes(int nbytes) throws IOException {
        if (nbytes > frameEnd - offset()) {
            throw bad("a value of the message extends past its end", 0);
        }
        byte[] data = new byte[Math.min(nbytes, MAX_ALLOCATION)];
        int have = 0;
        while (have < nbytes) {
            if (have == data.length) {
                data = Arrays.copyOf(data, (int) Math.min(nbytes, 8L * have));
            }
            need(1);
            int part = Math.min(buffer.remaining(), data.length - have);
            buffer.get(data, have, part);
            have += part;
        }
        if (crc != null) {
            crc.update(data, 0, nbytes);
        }
        return data;
    }
}
