package org.typedbytes.block;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * Writes messages to a channel in blocking mode: a socket, a pipe or a file.
 *
 * <p>One direct buffer is reused; a message that fits in it is one system call. Nothing is written of a message that
 * cannot be encoded ({@link IllegalArgumentException}), or whose values throw an exception of their own, as a lazy list
 * may. After an {@link IOException}, when a part may have been written, every later call throws IllegalStateException.
 */
public final class BlockWriter {
    private static final int BUFFER_SIZE = 1 << 18;

    private final WritableByteChannel channel;
    private final boolean checksum;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_SIZE);
    private final OnePass onePass = new OnePass();
    private Crc32c crc;
    private int crcFrom;
    private boolean isPartlyWritten;

    public BlockWriter(WritableByteChannel channel) {
        this(channel, false);
    }

    /** @param checksum whether native messages end with a CRC-32C */
    public BlockWriter(WritableByteChannel channel, boolean checksum) {
        this.channel = channel;
        this.checksum = checksum;
    }

    /**
     * Writes a message in its layout and sends it.
     *
     * @throws IllegalArgumentException for a value that the layout has no type for
     * @throws IllegalStateException when an earlier call threw an IOException
     */
    public void write(Message message) throws IOException {
        check();
        try {
            encode(message);
            flush();
            isPartlyWritten = false;
        } finally {
            // an exception before the first byte was sent: the next message starts from nothing
            if (!isPartlyWritten) {
                buffer.clear();
                crc = null;
            }
        }
    }

    /** Puts a message into the buffer, and sends what the buffer cannot hold. */
    private void encode(Message message) throws IOException {
        boolean isNative = message.wire == Wire.NATIVE;
        if (isNative && !checksum && onePass.put(message, buffer)) {
            return;
        }
        Part[] parts = new Part[message.values.size()];
        boolean isText = message.wire == Wire.LINE || message.wire == Wire.BLOCK;
        for (int i = 0; i < parts.length; i++) {
            parts[i] = isNative ? nativePart(message.values.get(i)) : part(message.values.get(i), isText);
        }
        if (isNative) {
            writeNative(message, parts);
        } else if (message.wire == Wire.LINE) {
            writeLines(parts);
        } else {
            writeBinary(message.wire, parts);
        }
    }

    /** Sends bytes unchanged: an answer. */
    public void writeRaw(byte[] data) throws IOException {
        check();
        put(data);
        flush();
        isPartlyWritten = false;
    }

    /** Whether a part of a message may have been written, and not all of it, after which nothing can follow. */
    boolean isPartlyWritten() {
        return isPartlyWritten;
    }

    private void check() {
        if (isPartlyWritten) {
            throw new IllegalStateException("an earlier message was not written to its end");
        }
    }

    /** A classified value: its type, and its number or its bytes. */
    private static final class Part {
        int type;
        long number;
        byte[] data;
        ArrayValue array;
        Object primitives;             // instead of it
        ArrayValue.Element element;    // of either

        Part(int type, long number) {
            this.type = type;
            this.number = number;
        }

        Part(int type, byte[] data) {
            this.type = type;
            this.data = data;
            this.number = data.length;
        }

        boolean hasBody() {
            return data != null || element != null;
        }

        int dimensions() {
            return array != null ? array.shape().length : element != null ? 1 : 0;
        }
    }

    private static Part part(Object value, boolean asText) {
        if (value instanceof byte[]) {
            return new Part(BlockReader.BYTES, (byte[]) value);
        }
        if (value instanceof String || value instanceof Command) {
            int type = value instanceof String ? BlockReader.STRING : BlockReader.COMMAND;
            return new Part(type, Nested.Utf8.encode(value.toString()));
        }
        int type = value instanceof Integer ? BlockReader.INT : value instanceof Long ? BlockReader.LONG
                : BlockReader.DOUBLE;
        if (type == BlockReader.DOUBLE && !(value instanceof Double)) {
            throw new IllegalArgumentException("the legacy layouts have no type for "
                    + (value == null ? "null" : value.getClass().getName()));
        }
        if (asText) {
            return new Part(type, value.toString().getBytes(StandardCharsets.US_ASCII));
        }
        boolean isDouble = type == BlockReader.DOUBLE;
        return new Part(type, isDouble ? Double.doubleToRawLongBits((Double) value) : ((Number) value).longValue());
    }

    private void writeBinary(Wire wire, Part[] parts) throws IOException {
        if (wire == Wire.TOTAL) {
            long total = 4;
            for (Part part : parts) {
                total += 4 + (part.data != null ? 4L + part.data.length : BlockReader.numberSize(part.type));
            }
            if (total > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("a message of " + total + " bytes is longer than 2^31-1");
            }
            putInt((int) total);
        }
        putInt(parts.length);
        if (wire == Wire.HEADER) {
            for (Part part : parts) {
                putInt(part.type);
                putInt(part.data != null ? part.data.length : BlockReader.numberSize(part.type));
            }
        }
        for (Part part : parts) {
            if (wire == Wire.TYPE8) {
                reserve(1);
                buffer.put((byte) part.type);
            } else if (wire != Wire.HEADER) {
                putInt(part.type);
            }
            if (part.data != null) {
                if (wire != Wire.HEADER) {
                    putInt(part.data.length);
                }
                put(part.data);
            } else if (part.type == BlockReader.INT) {
                putInt((int) part.number);
            } else {
                putLong(part.number);
            }
        }
    }

    private void writeLines(Part[] parts) throws IOException {
        for (Part part : parts) {
            if (part.type == BlockReader.COMMAND && hasLineEnd(part.data)) {
                throw new IllegalArgumentException("a command in the layout of lines cannot contain CR or LF");
            }
        }
        for (Part part : parts) {
            reserve(2);
            buffer.put((byte) ('0' + part.type)).put((byte) '\n');
            if (part.type == BlockReader.BYTES) {
                put(Base64.getEncoder().encode(part.data));
            } else if (part.type != BlockReader.STRING) {
                put(part.data);
            } else {
                for (byte next : part.data) {
                    reserve(2);
                    if (next == '\\' || next == '\r' || next == '\n') {
                        buffer.put((byte) '\\');
                    }
                    buffer.put(next == '\r' ? (byte) 'r' : next == '\n' ? (byte) 'n' : next);
                }
            }
            reserve(1);
            buffer.put((byte) '\n');
        }
        reserve(2);
        buffer.put((byte) 'e').put((byte) '\n');
    }

    private static boolean hasLineEnd(byte[] text) {
        for (byte next : text) {
            if (next == '\r' || next == '\n') {
                return true;
            }
        }
        return false;
    }

    // ---- the native format

    private static Part nativePart(Object value) {
        if (value == null) {
            return new Part(Types.NULL, 0);
        }
        if (value instanceof Boolean) {
            return new Part(Types.BOOL, (Boolean) value ? 1 : 0);
        }
        if (value instanceof Float || value instanceof Double) {
            return new Part(value instanceof Float ? Types.FLOAT : Types.DOUBLE,
                    Double.doubleToRawLongBits(value instanceof Float ? Types.widen((Float) value) : (Double) value));
        }
        if (value instanceof Byte || value instanceof Integer || value instanceof Long) {
            int type = value instanceof Byte ? Types.BYTE : value instanceof Integer ? Types.INT : Types.LONG;
            return new Part(type, ((Number) value).longValue());
        }
        if (value instanceof byte[]) {
            return new Part(Types.BYTES, (byte[]) value);
        }
        if (value instanceof String || value instanceof Command) {
            return new Part(value instanceof String ? Types.STRING : Types.COMMAND,
                    Nested.Utf8.encode(value.toString()));
        }
        if (value instanceof List || value instanceof Map) {
            return nativePart(Nested.of(value));
        }
        if (value instanceof Nested) {
            if (!Types.isNested(((Nested) value).code())) {
                throw new IllegalArgumentException("a native message has no nested type " + ((Nested) value).code());
            }
            return new Part(((Nested) value).code(), ((Nested) value).encoded());
        }
        if (value instanceof ArrowStream) {
            return new Part(Types.ARROW, ((ArrowStream) value).data);
        }
        if (value instanceof ArrayValue) {
            ArrayValue array = (ArrayValue) value;
            Part part = new Part(Types.ARRAY, 8L * array.shape().length + array.elements().remaining());
            part.array = array;
            part.element = array.element;
            return part;
        }
        ArrayValue.Element element = Primitives.elementOf(value);
        if (element != null) {
            Part part = new Part(Types.ARRAY, 8 + (long) element.size * Primitives.length(value));
            part.primitives = value;
            part.element = element;
            return part;
        }
        throw new IllegalArgumentException(withoutType(value.getClass()));
    }

    private static String withoutType(Class<?> kind) {
        String message = "a native message has no type for " + kind.getTypeName();
        if (kind == Object[].class) {
            return message + ": Nested.of(value) is a tuple";
        }
        if (kind.isArray() || kind.getName().startsWith("java.")) {
            return message + ": convert it to one that Message lists";
        }
        return message + ": a record is written by new Nested(RecordType.of(" + kind.getSimpleName()
                + ".class).write(value))";
    }

    private void writeNative(Message message, Part[] parts) throws IOException {
        long body = 0;
        ByteOrder order = ByteOrder.LITTLE_ENDIAN;
        for (Part part : parts) {
            if (part.hasBody()) {
                body = ((body + 7) & ~7L) + part.number;
            }
            if (part.array != null && part.element.size > 1) {
                order = part.array.order();
            }
        }
        for (Part part : parts) {
            if (part.array != null && part.element.size > 1 && part.array.order() != order) {
                throw new IllegalArgumentException("arrays of both byte orders in one message");
            }
        }
        crc = checksum ? new Crc32c() : null;
        crcFrom = buffer.position();
        putInt(OnePass.START);
        reserve(4);
        buffer.put((byte) ((order == ByteOrder.LITTLE_ENDIAN ? OnePass.LITTLE_ARRAYS : 0)
                | (checksum ? OnePass.CHECKSUM : 0) | (message.wantsReply ? OnePass.REPLY_WANTED : 0)));
        buffer.put((byte) OnePass.LOG2_ALIGNMENT).putShort((short) 0);
        putInt(parts.length);
        putInt((int) message.id);
        putLong(body);
        for (Part part : parts) {
            reserve(16);
            buffer.put((byte) part.type);
            buffer.put((byte) (part.element == null ? 0 : part.element.ordinal()));
            buffer.put((byte) part.dimensions());
            buffer.put((byte) 0).putInt(0).putLong(part.number);
        }
        writeBodies(parts, order);
        if (crc != null) {
            crc.update(buffer, crcFrom, buffer.position());
            int sum = crc.value();
            crc = null;
            putInt(sum);
        }
    }

    private void writeBodies(Part[] parts, ByteOrder order) throws IOException {
        long at = 0;
        for (Part part : parts) {
            if (!part.hasBody()) {
                continue;
            }
            for (; (at & 7) != 0; at++) {
                reserve(1);
                buffer.put((byte) 0);
            }
            if (part.data != null) {
                put(part.data);
            } else if (part.primitives != null) {
                putLong(Primitives.length(part.primitives));
                put(part.primitives, part.element, order);
            } else {
                for (long dimension : part.array.shape()) {
                    putLong(dimension);
                }
                put(part.array.elements());
            }
            at += part.number;
        }
    }

    // ---- bytes

    private void reserve(int nbytes) throws IOException {
        if (buffer.remaining() < nbytes) {
            flush();
        }
    }

    private void putInt(int value) throws IOException {
        reserve(4);
        buffer.putInt(value);
    }

    private void putLong(long value) throws IOException {
        reserve(8);
        buffer.putLong(value);
    }

    private void put(byte[] data) throws IOException {
        put(ByteBuffer.wrap(data));
    }

    private void put(ByteBuffer data) throws IOException {
        int end = data.limit();
        while (data.position() < end) {
            reserve(1);
            data.limit(data.position() + Math.min(end - data.position(), buffer.remaining()));
            buffer.put(data);
            data.limit(end);
        }
    }

    private void put(Object primitives, ArrayValue.Element element, ByteOrder order) throws IOException {
        int length = Primitives.length(primitives);
        for (int at = 0; at < length; ) {
            reserve(element.size);
            int count = Primitives.put(primitives, at, buffer.slice().order(order), element);
            buffer.position(buffer.position() + count * element.size);
            at += count;
        }
    }

    /** Sends what is in the buffer. From here on the message is partly written, until all of it has been sent. */
    private void flush() throws IOException {
        if (crc != null) {
            crc.update(buffer, crcFrom, buffer.position());
            crcFrom = 0;
        }
        buffer.flip();
        isPartlyWritten = true;
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
        buffer.clear();
    }
}
