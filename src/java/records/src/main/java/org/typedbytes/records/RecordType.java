package org.typedbytes.records;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;

/**
 * Reads and writes the values of one Java type as typed bytes: Java records, beans, and what is inside them.
 *
 * <pre>{@code
 * RecordType<Visit> visits = RecordType.of(Visit.class);
 * byte[] data = visits.write(new Visit("ann", LocalDateTime.now().truncatedTo(ChronoUnit.MICROS), 12));
 * Visit visit = visits.read(data);
 * RecordType<List<Visit>> lists = new RecordType<List<Visit>>() {};
 * }</pre>
 *
 * <p>The data decides nothing but values: no class is loaded by its name, what a length or a count declares is compared
 * with the bytes that are there, and containers nest at most 256 deep. A RecordType does not change, and threads may
 * share it.
 */
public class RecordType<T> {
    private final Form form;
    private final boolean strict;
    private final boolean omitsNulls;
    private final boolean hiveNulls;

    /**
     * The type between the angle brackets of a subclass, as in {@code new RecordType<List<Visit>>() {}}.
     *
     * @throws IllegalArgumentException for a type that cannot be read and written; it says which field is of that type
     */
    protected RecordType() {
        Type parent = getClass().getGenericSuperclass();
        if (!(parent instanceof ParameterizedType)) {
            throw new IllegalArgumentException(
                    "expected new RecordType<...>() {}, found no type in its angle brackets");
        }
        form = new Forms().form(((ParameterizedType) parent).getActualTypeArguments()[0]);
        strict = true;
        omitsNulls = false;
        hiveNulls = false;
    }

    private RecordType(Form form, boolean strict, boolean omitsNulls, boolean hiveNulls) {
        this.form = form;
        this.strict = strict;
        this.omitsNulls = omitsNulls;
        this.hiveNulls = hiveNulls;
    }

    /**
     * The type of a class.
     *
     * @throws IllegalArgumentException as for {@link #RecordType()}
     */
    public static <T> RecordType<T> of(Class<T> type) {
        return new RecordType<>(new Forms().form(type), true, false, false);
    }

    /**
     * Reads numbers and booleans from text too, whole numbers from a DOUBLE, booleans from 0 and 1, and null from the
     * text "null" in any case.
     */
    public RecordType<T> lenient() {
        return new RecordType<>(form, false, omitsNulls, hiveNulls);
    }

    /** Leaves out of a MAP the fields that are null, where reading gives null again. */
    public RecordType<T> omitNulls() {
        return new RecordType<>(form, strict, true, hiveNulls);
    }

    /** Writes a null as Hive does, not as Python's pickle of None; either is read. */
    public RecordType<T> hiveNulls() {
        return new RecordType<>(form, strict, omitsNulls, true);
    }

    /**
     * The value whose bytes these are, no more and no less.
     *
     * @throws RecordException for bytes that are not such a value
     */
    public T read(byte[] data) throws RecordException {
        ByteBuffer buffer = ByteBuffer.wrap(data);
        T value = read(buffer);
        if (buffer.hasRemaining()) {
            int extra = buffer.remaining();
            throw new RecordException(extra + (extra == 1 ? " byte" : " bytes") + " after the value", buffer.position(),
                    null);
        }
        return value;
    }

    /**
     * The value that starts at the position of a buffer, which is then behind it; after an exception it is where it
     * was.
     *
     * @throws RecordException for bytes that are not such a value
     */
    @SuppressWarnings("unchecked")
    public T read(ByteBuffer data) throws RecordException {
        ByteBuffer rest = data.duplicate();
        T value = (T) new ValueReader(rest, strict).read(form);
        data.position(rest.position());
        return value;
    }

    /**
     * The bytes of a value.
     *
     * @throws RecordException for a value that the format cannot hold
     */
    public byte[] write(T value) throws RecordException {
        ByteBuffer written = written(value);
        byte[] data = new byte[written.remaining()];
        written.get(data);
        return data;
    }

    /**
     * Writes a value, all of it or, where it cannot be written, nothing.
     *
     * @throws RecordException for a value that the format cannot hold
     */
    public void write(T value, OutputStream target) throws IOException {
        ByteBuffer written = written(value);
        target.write(written.array(), 0, written.remaining());
    }

    private ByteBuffer written(T value) throws RecordException {
        ValueWriter out = new ValueWriter(omitsNulls, hiveNulls);
        out.value(form, value);
        return out.written();
    }
}
