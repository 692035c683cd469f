package org.typedbytes.vectors;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.hadoop.io.ArrayPrimitiveWritable;
import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.BooleanWritable;
import org.apache.hadoop.io.ByteWritable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.FloatWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.io.MapWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.ObjectWritable;
import org.apache.hadoop.io.ShortWritable;
import org.apache.hadoop.io.SortedMapWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.TwoDArrayWritable;
import org.apache.hadoop.io.VIntWritable;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.record.Buffer;
import org.apache.hadoop.typedbytes.TypedBytesOutput;
import org.apache.hadoop.typedbytes.TypedBytesWritable;
import org.apache.hadoop.typedbytes.TypedBytesWritableOutput;

/**
 * The golden vectors: every type, its extremes and their neighbours, written by Hadoop's two writers.
 *
 * <p>In Hadoop an {@code ArrayList} is a VECTOR and every other list is a LIST;
 * hence {@link #vector} and {@link #list}.
 */
final class Golden {
    private final PrintStream out;

    private Golden(PrintStream out) {
        this.out = out;
    }

    /** Prints one JSON line a vector. */
    static void print(PrintStream out) throws IOException {
        Golden golden = new Golden(out);
        golden.scalars();
        golden.strings();
        golden.containers();
        golden.writables();
    }

    /** Prints the line of one vector: where the bytes come from, the bytes, and what Hadoop reads in them. */
    static void print(PrintStream out, String name, String kind, String source, byte[] data) {
        String head = Json.members(
                "name", Json.quote(name), "kind", Json.quote(kind), "source", source, "hex", Json.quote(Hex.of(data)));
        out.print("{" + head + "," + Readings.members(data) + "}\n");
    }

    private void scalars() throws IOException {
        write("bytes_empty", bytes());
        write("bytes_3", bytes(0, 0xff, 0x7f));
        write("bytes_256", bytes(IntStream.range(0, 256).toArray()));
        for (int number : new int[] {0, 1, -1, 127, -128}) {
            write("byte_" + number, (byte) number);
        }
        write("bool_false", false);
        write("bool_true", true);
        for (int number : new int[] {
            0, 1, -1, 127, 128, 255, 256, -256, 65535, 65536, Integer.MAX_VALUE, Integer.MIN_VALUE
        }) {
            write("int_" + number, number);
        }
        for (long number : new long[] {
            0, 1, -1, 1L << 31, -(1L << 31) - 1, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE
        }) {
            write("long_" + number, number);
        }
        for (float number : new float[] {
            0f, -0f, 1f, -1.5f, 0.1f,
            Float.MAX_VALUE, Float.MIN_VALUE, Float.MIN_NORMAL, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
            Float.NaN, Float.intBitsToFloat(0x7fc00001), Float.intBitsToFloat(0xffc00000)
        }) {
            write("float_" + number + "_" + Integer.toHexString(Float.floatToRawIntBits(number)), number);
        }
        for (double number : new double[] {
            0, -0.0, 1, -1.5, 0.1, Math.PI,
            Double.MAX_VALUE, Double.MIN_VALUE, Double.MIN_NORMAL, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY,
            Double.NaN, Double.longBitsToDouble(0x7ff8000000000001L), Double.longBitsToDouble(0xfff8000000000000L)
        }) {
            write("double_" + number + "_" + Long.toHexString(Double.doubleToRawLongBits(number)), number);
        }
    }

    private void strings() throws IOException {
        write("string_empty", "");
        write("string_ascii", "hello world");
        write("string_nul", "a\0b");
        write("string_tab_nl", "a\tb\nc\r");
        write("string_2byte", "\u00e9");
        write("string_3byte", "\u20ac");
        write("string_4byte", "\ud83d\ude00");
        write("string_bom", "\ufeffx");
        write("string_ffff", "\uffff");
        write("string_lone_high_surrogate", "a\ud83db");
        write("string_lone_low_surrogate", "\ude00");
        write("string_combining", "e\u0301");
        write("string_300", "x".repeat(300));
    }

    private void containers() throws IOException {
        write("vector_empty", vector());
        write("vector_int_str", vector(1, "a"));
        write("vector_nested", vector(vector(1, vector(2L)), vector()));
        write("vector_mixed", vector((byte) 1, true, 2, 3L, 1.5f, 2.5, "s", bytes(9)));
        write("list_empty", list());
        write("list_ints", list(1, 2, 3));
        write("list_nested", list(list(1), list(), list(list("x"))));
        write("list_with_byte_minus1", list((byte) -1));
        write("list_with_ff_string", list("\u00ff", -1));
        write("vector_of_list", vector(list(1), list(2)));
        write("list_of_vector", list(vector(1), vector()));
        write("map_empty", map());
        write("map_str_int", new TreeMap<>(map("b", 2, "a", 1)));
        write("map_linked_order", map("b", 2, "a", 1));
        write("map_mixed_keys", map(1, "int", "x", "str"));
        write("map_vector_key", map(vector(1, 2), "tuplekey"));
        write("map_nested", map("l", list(1), "m", map("a", 1, "b", 2)));
        write("map_double", map(1.0, 0.1));
        List<Object> deep = list();
        for (int depth = 1; depth <= 50; depth++) {
            deep = list(deep);
        }
        write("list_depth_51", deep);
    }

    private void writables() throws IOException {
        write("w_bytes", new BytesWritable(new byte[] {1, 2, 3}));
        write("w_byte", new ByteWritable((byte) -5));
        write("w_bool", new BooleanWritable(true));
        write("w_int", new IntWritable(-7));
        write("w_vint", new VIntWritable(300));
        write("w_long", new LongWritable(1L << 40));
        write("w_vlong", new VLongWritable(5));
        write("w_float", new FloatWritable(1.5f));
        write("w_double", new DoubleWritable(-2.5));
        write("w_text", new Text("h\u00e9llo"));
        Text invalid = new Text();
        invalid.set(new byte[] {'a', (byte) 0xff, 'b'});
        write("w_text_invalid_utf8", invalid);
        write("w_array", new ArrayWritable(IntWritable.class, new Writable[] {new IntWritable(1), new IntWritable(2)}));
        MapWritable map = new MapWritable();
        map.put(new Text("k"), new IntWritable(1));
        write("w_map", map);
        SortedMapWritable<Text> sorted = new SortedMapWritable<>();
        sorted.put(new Text("b"), new IntWritable(1));
        sorted.put(new Text("a"), NullWritable.get());
        write("w_sortedmap", sorted);
        write("w_null", NullWritable.get());
        write("w_short", new ShortWritable((short) -2));
        write("w_md5", new MD5Hash(new byte[16]));
        write("w_object_str", new ObjectWritable("str"));
        write("w_primarray", new ArrayPrimitiveWritable(new int[] {1, 2}));
        write("w_2d", new TwoDArrayWritable(IntWritable.class, new Writable[][] {{new IntWritable(1)}}));
        write("w_enumset_na", new ArrayWritable(new String[] {"a", "b"}));
        write("w_tbw", new TypedBytesWritable(Hex.parse("0300000005")));
        write("w_record", new SampleRecord());
    }

    private void write(String name, Object value) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new TypedBytesOutput(new DataOutputStream(bytes)).write(value);
        print(out, name, "TypedBytesOutput.write", Json.value(value), bytes.toByteArray());
    }

    private void write(String name, Writable writable) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new TypedBytesWritableOutput(new DataOutputStream(bytes)).write(writable);
        print(out, name, "TypedBytesWritableOutput.write", Json.writable(writable), bytes.toByteArray());
    }

    @SuppressWarnings("deprecation") // Buffer: what Hadoop's writer takes for BYTES
    private static Buffer bytes(int... values) {
        byte[] data = new byte[values.length];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) values[i];
        }
        return new Buffer(data);
    }

    private static List<Object> vector(Object... items) {
        return new ArrayList<>(Arrays.asList(items));
    }

    private static List<Object> list(Object... items) {
        return new LinkedList<>(Arrays.asList(items));
    }

    /** A MAP that keeps the order of the keys and values given. */
    private static Map<Object, Object> map(Object... keysAndValues) {
        Map<Object, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put(keysAndValues[i], keysAndValues[i + 1]);
        }
        return map;
    }
}
