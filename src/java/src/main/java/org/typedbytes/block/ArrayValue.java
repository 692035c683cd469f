package org.typedbytes.block;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * An array of numbers or booleans with its shape. Its elements are not copied: {@link #elements()} returns a buffer in
 * their byte order, whose {@code asDoubleBuffer()} and similar methods give the numbers without a copy.
 */
public final class ArrayValue {
    /** The types of elements, in the order of their codes. */
    public enum Element {
        I1(1), I2(2), I4(4), I8(8), U1(1), U2(2), U4(4), U8(8), F4(4), F8(8), BOOL(1);

        /** Bytes of one element. */
        public final int size;

        Element(int size) {
            this.size = size;
        }
    }

    private static final int MAX_DIMENSIONS = 64;

    /** The type of the elements. */
    public final Element element;
    private final long[] shape;
    private final ByteBuffer data;

    /**
     * @param data the elements, in C order, from its position to its limit; in its byte order
     * @throws IllegalArgumentException when the shape does not match the number of bytes,
     *     or has more than 64 dimensions
     */
    public ArrayValue(Element element, long[] shape, ByteBuffer data) {
        if (shape.length > MAX_DIMENSIONS) {
            throw new IllegalArgumentException("an array of " + shape.length + " dimensions has more than "
                    + MAX_DIMENSIONS);
        }
        long nbytes = element.size;
        boolean isEmpty = false;
        for (long dimension : shape) {
            if (dimension < 0) {
                throw new IllegalArgumentException("a negative dimension");
            }
            nbytes = Math.multiplyExact(nbytes, Math.max(dimension, 1));
            isEmpty |= dimension == 0;
        }
        nbytes = isEmpty ? 0 : nbytes;
        if (nbytes != data.remaining()) {
            throw new IllegalArgumentException("an array of " + nbytes + " bytes has " + data.remaining());
        }
        this.element = element;
        this.shape = shape.clone();
        this.data = data.asReadOnlyBuffer().order(data.order());
    }

    /** The length of each dimension; empty: a single number. */
    public long[] shape() {
        return shape.clone();
    }

    /** A read-only view of the elements, in their byte order. */
    public ByteBuffer elements() {
        return data.duplicate().order(data.order());
    }

    ByteOrder order() {
        return data.order();
    }
}
