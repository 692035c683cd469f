package org.typedbytes.vectors;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.typedbytes.TypedBytesInput;
import org.apache.hadoop.typedbytes.TypedBytesOutput;
import org.apache.hadoop.typedbytes.TypedBytesWritable;
import org.apache.hadoop.util.ReflectionUtils;

/** A stream of values in, the same values out as one of Hadoop's readers gives them. */
final class Filters {
    private static final int BUFFER_NBYTES = 1 << 17;

    private Filters() {}

    /** The bytes of each value, by {@code readRaw}: what Hadoop Streaming does with a script's output. */
    static void raw(InputStream source, OutputStream sink) throws IOException {
        TypedBytesInput in = input(source);
        DataOutputStream out = output(sink);
        for (byte[] value = in.readRaw(); value != null; value = in.readRaw()) {
            out.write(value);
        }
        out.flush();
    }

    /** All bytes, compressed by a codec as TextOutputFormat compresses a file. */
    static void compress(String codec, InputStream source, OutputStream sink) throws Exception {
        Class<?> found = Class.forName(codec);
        CompressionCodec compressor = (CompressionCodec) ReflectionUtils.newInstance(found, new Configuration());
        try (OutputStream out = compressor.createOutputStream(sink)) {
            source.transferTo(out);
        }
    }

    /** Each value read into a Java object and written again. */
    static void rewrite(InputStream source, OutputStream sink) throws IOException {
        TypedBytesInput in = input(source);
        DataOutputStream out = output(sink);
        TypedBytesOutput values = new TypedBytesOutput(out);
        for (Object value = in.read(); value != null; value = in.read()) {
            values.write(value);
        }
        out.flush();
    }

    /** A JSON line a value: the Java object it is read into. */
    static void json(InputStream source, OutputStream sink) throws IOException {
        TypedBytesInput in = input(source);
        DataOutputStream out = output(sink);
        for (Object value = in.read(); value != null; value = in.read()) {
            line(out, Json.value(value));
        }
        out.flush();
    }

    /** A JSON line a value: its hash code and partitions as the key of a job. */
    static void place(InputStream source, OutputStream sink) throws IOException {
        TypedBytesInput in = input(source);
        DataOutputStream out = output(sink);
        for (byte[] value = in.readRaw(); value != null; value = in.readRaw()) {
            line(out, "{" + Readings.placing(new TypedBytesWritable(value)) + "}");
        }
        out.flush();
    }

    /** The values in the order that Hadoop's sort gives to keys; both of its comparators must agree on it. */
    static void sort(InputStream source, OutputStream sink) throws IOException {
        TypedBytesInput in = input(source);
        List<TypedBytesWritable> values = new ArrayList<>();
        for (byte[] value = in.readRaw(); value != null; value = in.readRaw()) {
            values.add(new TypedBytesWritable(value));
        }
        values.sort(WritableComparator.get(TypedBytesWritable.class)::compare);
        DataOutputStream out = output(sink);
        byte[] before = null;
        for (TypedBytesWritable value : values) {
            byte[] serialized = WritableUtils.toByteArray(value);
            if (before != null
                    && new BytesWritable.Comparator()
                                    .compare(before, 0, before.length, serialized, 0, serialized.length)
                            > 0) {
                throw new IOException("BytesWritable.Comparator has another order");
            }
            before = serialized;
            out.write(value.getBytes(), 0, value.getLength());
        }
        out.flush();
    }

    private static void line(OutputStream out, String text) throws IOException {
        out.write((text + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    private static TypedBytesInput input(InputStream source) {
        return new TypedBytesInput(new DataInputStream(new BufferedInputStream(source, BUFFER_NBYTES)));
    }

    private static DataOutputStream output(OutputStream sink) {
        return new DataOutputStream(new BufferedOutputStream(sink, BUFFER_NBYTES));
    }
}
