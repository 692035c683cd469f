package org.typedbytes.vectors;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.io.ArrayPrimitiveWritable;
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
import org.apache.hadoop.io.VIntWritable;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.typedbytes.TypedBytesOutput;
import org.apache.hadoop.typedbytes.TypedBytesWritable;
import org.apache.hadoop.typedbytes.TypedBytesWritableOutput;

/** Keys and values of every kind that a SequenceFile of the vectors holds, and what they are. */
final class Kinds {
    private static final long[] NUMBERS = {
        0, 1, -1, 127, 128, -112, -113, -128, -129, 255, 256, -256, -257, 32767, -32768, 65536, Integer.MAX_VALUE,
        Integer.MIN_VALUE, 1L << 31, 1L << 40, -(1L << 40), 1L << 56, Long.MAX_VALUE, Long.MIN_VALUE
    };

    private Kinds() {}

    /** Records by the name of what they show: each an array of key and value. */
    static Map<String, List<Writable[]>> all() throws IOException {
        Map<String, List<Writable[]>> kinds = new LinkedHashMap<>();
        kinds.put("typed", typed());
        List<Writable[]> ints = new ArrayList<>();
        List<Writable[]> longs = new ArrayList<>();
        List<Writable[]> shorts = new ArrayList<>();
        for (long number : NUMBERS) {
            ints.add(pair(new Text(Long.toString(number)), new IntWritable((int) number)));
            longs.add(pair(new VIntWritable((int) number), new VLongWritable(number)));
            shorts.add(pair(new ShortWritable((short) number), new FloatWritable(number / 3f)));
        }
        kinds.put("text-int", ints);
        kinds.put("vint-vlong", longs);
        kinds.put("short-float", shorts);
        kinds.put("long-text", Arrays.asList(
                pair(new LongWritable(0), new Text("")),
                pair(new LongWritable(Long.MIN_VALUE), new Text("a\u0000\u00e9\u20ac\ud83d\ude00")),
                pair(new LongWritable(1L << 33), new Text("long ".repeat(60)))));
        kinds.put("bytes-double", Arrays.asList(
                pair(new BytesWritable(new byte[0]), new DoubleWritable(-0.0)),
                pair(new BytesWritable(new byte[] {0, -1, 127, -128}), new DoubleWritable(Double.MIN_VALUE)),
                pair(new BytesWritable(new byte[300]), new DoubleWritable(Double.NEGATIVE_INFINITY))));
        kinds.put("byte-boolean", Arrays.asList(
                pair(new ByteWritable((byte) -128), new BooleanWritable(true)),
                pair(new ByteWritable((byte) 127), new BooleanWritable(false))));
        kinds.put("null-null", Arrays.asList(pair(NullWritable.get(), NullWritable.get()),
                pair(NullWritable.get(), NullWritable.get())));
        kinds.put("text-map", Arrays.asList(
                pair(new Text("empty"), new MapWritable()),
                pair(new Text("full"), map()),
                pair(new Text("one and true"), oneAndTrue())));
        kinds.put("int-sortedmap", List.<Writable[]>of(pair(new IntWritable(1), sorted())));
        kinds.put("text-object", objects());
        kinds.put("text-primitives", Arrays.asList(
                pair(new Text("int"), new ArrayPrimitiveWritable(new int[] {1, -2, Integer.MAX_VALUE})),
                pair(new Text("double"), new ArrayPrimitiveWritable(new double[] {1.5, -0.0})),
                pair(new Text("char"), new ArrayPrimitiveWritable(new char[] {'a', '\u20ac'})),
                pair(new Text("boolean"), new ArrayPrimitiveWritable(new boolean[] {true, false})),
                pair(new Text("byte"), new ArrayPrimitiveWritable(new byte[0]))));
        kinds.put("md5-array", List.<Writable[]>of(pair(MD5Hash.digest("a"), new TextArray("one", "", "three"))));
        return kinds;
    }

    private static Writable[] pair(Writable key, Writable value) {
        return new Writable[] {key, value};
    }

    private static List<Writable[]> typed() throws IOException {
        List<Object> values = new ArrayList<>(Arrays.asList(1, -1L, 1.5f, -0.0, true, (byte) 5, "text", "", "\u20ac"));
        values.add(new ArrayList<>(Arrays.asList(1, "two", 3.0)));
        values.add(Arrays.asList(1, 2));
        values.add(new TreeMap<>(Map.of("a", 1, "b", 2)));
        List<Writable[]> records = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            records.add(pair(typed(values.get(i)), typed(i)));
        }
        return records;
    }

    private static TypedBytesWritable typed(Object value) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new TypedBytesOutput(new DataOutputStream(bytes)).write(value);
        return new TypedBytesWritable(bytes.toByteArray());
    }

    private static MapWritable map() {
        MapWritable map = new MapWritable();
        map.put(new Text("int"), new IntWritable(-5));
        map.put(new Text("long"), new LongWritable(5));
        map.put(new Text("vlong"), new VLongWritable(500));
        map.put(new Text("double"), new DoubleWritable(1.5));
        map.put(new Text("float"), new FloatWritable(1.5f));
        map.put(new Text("byte"), new ByteWritable((byte) 7));
        map.put(new Text("short"), new ShortWritable((short) 7));
        map.put(new Text("null"), NullWritable.get());
        map.put(new IntWritable(1), new BytesWritable(new byte[] {1, 2}));
        map.put(new Text("map"), new MapWritable());
        return map;
    }

    /** Two keys in Java, one in Python. */
    private static MapWritable oneAndTrue() {
        MapWritable map = new MapWritable();
        map.put(new IntWritable(1), new Text("one"));
        map.put(new BooleanWritable(true), new Text("true"));
        return map;
    }

    private static SortedMapWritable<Text> sorted() {
        SortedMapWritable<Text> map = new SortedMapWritable<>();
        map.put(new Text("b"), new VIntWritable(1000));
        map.put(new Text("a"), new Text("first"));
        return map;
    }

    private static List<Writable[]> objects() {
        return Arrays.asList(
                pair(new Text("string"), new ObjectWritable("a\u0000\u20ac\ud83d\ude00")),
                pair(new Text("int"), new ObjectWritable(int.class, 5)),
                pair(new Text("char"), new ObjectWritable(char.class, '\u20ac')),
                pair(new Text("text"), new ObjectWritable(new Text("inside"))),
                pair(new Text("null"), new ObjectWritable(Text.class, null)),
                pair(new Text("strings"), new ObjectWritable(new String[] {"a", "b"})),
                pair(new Text("ints"), new ObjectWritable(new int[] {1, 2})),
                pair(new Text("array"), new ObjectWritable(new TextArray("not", "known"))));
    }

    /** The bytes that a Writable writes. */
    static byte[] bytes(Writable writable) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        writable.write(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    /** What Hadoop Streaming makes of a Writable for a script. */
    static byte[] typedBytes(Writable writable) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new TypedBytesWritableOutput(new DataOutputStream(bytes)).write(writable);
        return bytes.toByteArray();
    }

    /** What a Writable is, as JSON: the types of {@link Json}, and more for those that typed bytes do not have. */
    static String view(Object thing) throws IOException {
        if (thing instanceof TypedBytesWritable) {
            return Json.value(((TypedBytesWritable) thing).getValue());
        } else if (thing instanceof BytesWritable) {
            return Json.object("bytes", Json.quote(Hex.of(((BytesWritable) thing).copyBytes())));
        } else if (thing instanceof Text || thing instanceof String) {
            return Json.object("string", Json.quote(thing.toString()));
        } else if (thing instanceof NullWritable || thing == null) {
            return Json.object("null", "true");
        } else if (thing instanceof BooleanWritable) {
            return Json.value(((BooleanWritable) thing).get());
        } else if (thing instanceof FloatWritable) {
            return Json.value(((FloatWritable) thing).get());
        } else if (thing instanceof DoubleWritable) {
            return Json.value(((DoubleWritable) thing).get());
        } else if (thing instanceof MD5Hash) {
            return Json.object("bytes", Json.quote(Hex.of(((MD5Hash) thing).getDigest())));
        } else if (thing instanceof Map) {
            List<String> entries = new ArrayList<>();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) thing).entrySet()) {
                entries.add("[" + view(entry.getKey()) + "," + view(entry.getValue()) + "]");
            }
            return Json.object("map", Json.array(entries));
        } else if (thing instanceof ObjectWritable) {
            return view(((ObjectWritable) thing).get());
        } else if (thing instanceof ArrayPrimitiveWritable) {
            return view(((ArrayPrimitiveWritable) thing).get());
        } else if (thing instanceof TextArray) {
            return view(((TextArray) thing).toStrings());
        } else if (thing.getClass().isArray()) {
            List<String> items = new ArrayList<>();
            for (int i = 0; i < java.lang.reflect.Array.getLength(thing); i++) {
                items.add(view(java.lang.reflect.Array.get(thing, i)));
            }
            return Json.object("vector", Json.array(items));
        } else if (thing instanceof Float || thing instanceof Double || thing instanceof Boolean) {
            return Json.value(thing);
        }
        return thing instanceof Character ? view(thing.toString())
                : Json.object("number", Json.quote(thing.toString()));
    }
}
