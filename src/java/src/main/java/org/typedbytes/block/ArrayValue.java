package org.typedbytes.block;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * An array of numbers or booleans with its shape. {@link #toDoubleArray()} and {@link #toLongArray()} copy the numbers;
 * {@link #elements()} returns a buffer in their byte order, whose {@code asDoubleBuffer()} and similar methods give
 * them without a copy. A {@code double[]}, {@code float[]}, {@code int[]}, {@code long[]}, {@code short[]} or
 * {@code boolean[]} is written as one of one dimension.
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

    /** The numbers in a new array, in C order: of whole numbers and booleans too, which are 0 and 1. */
    public double[] toDoubleArray() {
        double[] numbers = new double[data.remaining() / element.size];
        if (element == Element.F8) {
            data.asDoubleBuffer().get(numbers);
            return numbers;
        }
        ByteBuffer rest = elements();
        for (int i = 0; i < numbers.length; i++) {
            long whole = element == Element.F4 ? 0 : next(rest);
            numbers[i] = element == Element.F4 ? Types.widen(rest.getFloat())
                    : element != Element.U8 || whole >= 0 ? whole : (whole >>> 1 | whole & 1) * 2.0;
        }
        return numbers;
    }

    /**
     * The whole numbers in a new array, in C order; of booleans, 0 and 1.
     *
     * @throws ArithmeticException for numbers that are not whole by their type, or above 2^63-1
     */
    public long[] toLongArray() {
        if (element == Element.F4 || element == Element.F8) {
            throw new ArithmeticException("an array of " + element + " has no whole numbers: take toDoubleArray()");
        }
        long[] numbers = new long[data.remaining() / element.size];
        if (element == Element.I8) {
            data.asLongBuffer().get(numbers);
            return numbers;
        }
        ByteBuffer rest = elements();
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = next(rest);
            if (element == Element.U8 && numbers[i] < 0) {
                throw new ArithmeticException(Long.toUnsignedString(numbers[i]) + " is above 2^63-1");
            }
        }
        return numbers;
    }

    /** The next whole number; of U8, its 64 bits. */
    private long next(ByteBuffer rest) {
        switch (element) {
            case I1:
            case BOOL:
                return rest.get();
            case U1:
                return rest.get() & 0xff;
            case I2:
                return rest.getShort();
            case U2:
                return rest.getShort() & 0xffff;
            case I4:
                return rest.getInt();
            case U4:
                return rest.getInt() & 0xffffffffL;
            default:
                return rest.getLong();
        }
    }

    ByteOrder order() {
        return data.order();
    }
}
