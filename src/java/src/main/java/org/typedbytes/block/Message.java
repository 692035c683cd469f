package org.typedbytes.block;

import java.util.Collections;
import java.util.List;

/**
 * One message: its values, layout and id.
 *
 * <p>Values are {@code byte[]}, {@link String}, {@link Command}, {@link Integer}, {@link Long} and {@link Double};
 * those of a native message also {@link Byte}, {@link Boolean}, {@link Float}, {@code null}, {@link ArrayValue},
 * {@link ArrowStream} and {@link Nested}; a {@link List} or {@link java.util.Map} is written as {@link Nested#of} it,
 * and an array of double, float, int, long, short or boolean as an {@link ArrayValue} of one dimension.
 */
public final class Message {
    /** The layout of the message. */
    public final Wire wire;
    /** The id of a native message, to be repeated in its reply; 0 in a legacy layout. */
    public final long id;
    /** Whether the sender of a native message waits for a reply. */
    public final boolean wantsReply;
    /** The values, in order. */
    public final List<Object> values;

    public Message(Wire wire, List<Object> values) {
        this(wire, 0, false, values);
    }

    public Message(Wire wire, long id, boolean wantsReply, List<Object> values) {
        if (id < 0 || id > 0xffffffffL) {
            throw new IllegalArgumentException("an id is 0..2^32-1, not " + id);
        }
        this.wire = wire;
        this.id = id;
        this.wantsReply = wantsReply;
        this.values = Collections.unmodifiableList(values);
    }
}
