package org.typedbytes.block;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;

/** Java's own arrays of numbers and booleans, which are written as an {@link ArrayValue} of one dimension. */
final class Primitives {
    private Primitives() {
    }

    /** The type of the elements; null for an object that is not such an array. {@code byte[]} is BYTES, not one. */
    static ArrayValue.Element elementOf(Object array) {
        return array instanceof double[] ? ArrayValue.Element.F8
                : array instanceof float[] ? ArrayValue.Element.F4
                : array instanceof int[] ? ArrayValue.Element.I4
                : array instanceof long[] ? ArrayValue.Element.I8
                : array instanceof short[] ? ArrayValue.Element.I2
                : array instanceof boolean[] ? ArrayValue.Element.BOOL : null;
    }

    static int length(Object array) {
        return Array.getLength(array);
    }

    /** Puts elements from an index on, as many as the buffer has space for; returns their number. */
    static int put(Object array, int from, ByteBuffer target, ArrayValue.Element element) {
        int count = Math.min(length(array) - from, target.remaining() / element.size);
        switch (element) {
            case F8:
                target.asDoubleBuffer().put((double[]) array, from, count);
                break;
            case F4:
                target.asFloatBuffer().put((float[]) array, from, count);
                break;
            case I4:
                target.asIntBuffer().put((int[]) array, from, count);
                break;
            case I8:
                target.asLongBuffer().put((long[]) array, from, count);
                break;
            case I2:
                target.asShortBuffer().put((short[]) array, from, count);
                break;
            default:
                for (int i = 0; i < count; i++) {
                    target.put(i, (byte) (((boolean[]) array)[from + i] ? 1 : 0));
                }
        }
        return count;
    }
}
