package org.typedbytes.vectors;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import org.apache.hadoop.mapred.lib.HashPartitioner;
import org.apache.hadoop.typedbytes.Type;
import org.apache.hadoop.typedbytes.TypedBytesInput;
import org.apache.hadoop.typedbytes.TypedBytesOutput;
import org.apache.hadoop.typedbytes.TypedBytesWritable;
import org.apache.hadoop.typedbytes.TypedBytesWritableInput;

/**
 * What each of Hadoop's readers makes of the same bytes, and where a key with these bytes goes.
 *
 * <p>A reading is {@code {"ok":RESULT,"consumed":N}}, or {@code {"error":CLASS,"message":TEXT,"consumed":N}}, with the
 * number of bytes taken from the input by then.
 */
final class Readings {
    private static final int[] NPARTITIONS = {2, 3, 7, 16};

    private Readings() {}

    /** The rest of a vector's line: the readings, the hash code and the partitions, as members of an object. */
    static String members(byte[] data) {
        TypedBytesWritable key = new TypedBytesWritable(data);
        return Json.members(
                "read", reading(data, in -> Json.value(new TypedBytesInput(in).read())),
                "readRaw", reading(data, in -> hexOrNull(new TypedBytesInput(in).readRaw())),
                "readType", reading(data, in -> nameOrNull(new TypedBytesInput(in).readType())),
                "writableRead", reading(data, in -> Json.writable(new TypedBytesWritableInput(in).read())),
                "tbwToString", reading(data, in -> Json.quote(key.toString())),
                "tbwGetType", reading(data, in -> nameOrNull(key.getType())),
                "rewrite", reading(data, in -> Json.quote(Hex.of(written(new TypedBytesInput(in).read())))))
                + "," + placing(key);
    }

    /** Hash code and partitions, as members of an object. */
    static String placing(TypedBytesWritable key) {
        HashPartitioner<Object, Object> partitioner = new HashPartitioner<>();
        String[] partitions = new String[2 * NPARTITIONS.length];
        for (int i = 0; i < NPARTITIONS.length; i++) {
            partitions[2 * i] = Integer.toString(NPARTITIONS[i]);
            partitions[2 * i + 1] = Integer.toString(partitioner.getPartition(key, null, NPARTITIONS[i]));
        }
        return Json.members("hashCode", Integer.toString(key.hashCode()), "partition", Json.object(partitions));
    }

    private interface Reader {
        String read(DataInputStream in) throws Exception;
    }

    private static final class CountedInput extends ByteArrayInputStream {
        CountedInput(byte[] data) {
            super(data);
        }

        String consumed() {
            return Integer.toString(pos);
        }
    }

    private static String reading(byte[] data, Reader reader) {
        CountedInput input = new CountedInput(data);
        try {
            String result = reader.read(new DataInputStream(input));
            return Json.object("ok", result, "consumed", input.consumed());
        } catch (Exception | StackOverflowError | OutOfMemoryError failure) {
            return Json.object(
                    "error", Json.quote(failure.getClass().getName()),
                    "message", Json.quote(String.valueOf(failure.getMessage())),
                    "consumed", input.consumed());
        }
    }

    private static byte[] written(Object value) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new TypedBytesOutput(new DataOutputStream(bytes)).write(value);
        return bytes.toByteArray();
    }

    private static String hexOrNull(byte[] data) {
        return data == null ? "null" : Json.quote(Hex.of(data));
    }

    private static String nameOrNull(Type type) {
        return type == null ? "null" : Json.quote(type.name());
    }
}
