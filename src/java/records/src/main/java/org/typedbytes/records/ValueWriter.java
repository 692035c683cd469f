package org.typedbytes.records;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;

/** Writes values as bytes. */
final class ValueWriter {
    private static final byte[] PICKLED_NONE = {(byte) 0x80, 2, 'N', '.'};

    final boolean omitsNulls;
    private final boolean hiveNulls;
    private final CharsetEncoder utf8 = StandardCharsets.UTF_8.newEncoder();
    private ByteBuffer data = ByteBuffer.allocate(256);
    private int depth;

    ValueWriter(boolean omitsNulls, boolean hiveNulls) {
        this.omitsNulls = omitsNulls;
        this.hiveNulls = hiveNulls;
    }

    /** What has been written. */
    ByteBuffer written() {
        data.flip();
        return data;
    }

    void value(Form form, Object value) throws RecordException {
        if (value != null) {
            form.write(this, value);
        } else {
            form.writeNull(this);
        }
    }

    void writeNull() throws RecordException {
        if (hiveNulls) {
            start(Code.NULL, 0);
        } else {
            bytes(Code.PICKLE, ByteBuffer.wrap(PICKLED_NONE));
        }
    }

    /** Writes a type code; the caller has to put as many bytes as it says. */
    ByteBuffer start(int code, int nbytes) throws RecordException {
        long needed = data.position() + 1L + nbytes;
        if (needed > data.capacity()) {
            if (needed > Integer.MAX_VALUE - 16) {
                throw error("a value of more than 2 GiB", null);
            }
            data.flip();
            data = ByteBuffer.allocate((int) Math.min(Math.max(2L * data.capacity(), needed), Integer.MAX_VALUE - 16))
                    .put(data);
        }
        return data.put((byte) code);
    }

    /** Writes a LONG, or an INT where that is wanted and enough. */
    void integer(long value, boolean isNarrow) throws RecordException {
        if (isNarrow && value == (int) value) {
            start(Code.INT, 4).putInt((int) value);
        } else {
            start(Code.LONG, 8).putLong(value);
        }
    }

    void bytes(int code, ByteBuffer bytes) throws RecordException {
        if (bytes.remaining() > Integer.MAX_VALUE - 64) {
            throw error("a value of more than 2 GiB", null);
        }
        start(code, 4 + bytes.remaining()).putInt(bytes.remaining()).put(bytes);
    }

    void text(String text) throws RecordException {
        try {
            bytes(Code.STRING, utf8.encode(CharBuffer.wrap(text)));
        } catch (CharacterCodingException error) {
            throw error("text has an unpaired surrogate, which UTF-8 cannot encode", error);
        }
    }

    /** Begins a container; the caller has to put as many bytes as it says. */
    ByteBuffer enter(int code, int nbytes) throws RecordException {
        if (++depth > ValueReader.MAX_DEPTH) {
            throw error("containers nest deeper than " + ValueReader.MAX_DEPTH, null);
        }
        return start(code, nbytes);
    }

    void leave() {
        depth--;
    }

    static RecordException error(String problem, Throwable cause) {
        return new RecordException(problem, -1, cause);
    }
}
