import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.PrintStream;
import java.io.Serializable;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Date;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.io.ImmutableBytesWritable;
import org.apache.hadoop.hbase.mapreduce.KeyValueSerialization;
import org.apache.hadoop.hbase.mapreduce.MutationSerialization;
import org.apache.hadoop.hbase.mapreduce.ResultSerialization;
import org.apache.hadoop.hive.common.type.HiveChar;
import org.apache.hadoop.hive.common.type.HiveDecimal;
import org.apache.hadoop.hive.common.type.HiveIntervalDayTime;
import org.apache.hadoop.hive.common.type.HiveIntervalYearMonth;
import org.apache.hadoop.hive.common.type.HiveVarchar;
import org.apache.hadoop.hive.serde2.columnar.BytesRefArrayWritable;
import org.apache.hadoop.hive.serde2.columnar.BytesRefWritable;
import org.apache.hadoop.hive.serde2.io.DateWritable;
import org.apache.hadoop.hive.serde2.io.DateWritableV2;
import org.apache.hadoop.hive.serde2.io.HiveCharWritable;
import org.apache.hadoop.hive.serde2.io.HiveDecimalWritable;
import org.apache.hadoop.hive.serde2.io.HiveIntervalDayTimeWritable;
import org.apache.hadoop.hive.serde2.io.HiveIntervalYearMonthWritable;
import org.apache.hadoop.hive.serde2.io.HiveVarcharWritable;
import org.apache.hadoop.hive.serde2.io.TimestampWritable;
import org.apache.hadoop.hive.serde2.io.TimestampWritableV2;
import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.CompressedWritable;
import org.apache.hadoop.io.EnumSetWritable;
import org.apache.hadoop.io.GenericWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.MapWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.ObjectWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.TwoDArrayWritable;
import org.apache.hadoop.io.VersionedWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.io.serializer.JavaSerialization;
import org.apache.hadoop.io.serializer.Serialization;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.mahout.math.DenseVector;
import org.apache.mahout.math.NamedVector;
import org.apache.mahout.math.RandomAccessSparseVector;
import org.apache.mahout.math.SequentialAccessSparseVector;
import org.apache.mahout.math.Vector;
import org.apache.mahout.math.VectorWritable;
import org.apache.nutch.crawl.CrawlDatum;
import org.apache.nutch.crawl.Inlink;
import org.apache.nutch.crawl.Inlinks;
import org.apache.nutch.metadata.Metadata;
import org.apache.nutch.parse.Outlink;
import org.apache.nutch.parse.ParseData;
import org.apache.nutch.parse.ParseStatus;
import org.apache.nutch.parse.ParseText;
import org.apache.nutch.protocol.Content;

/**
 * What the Writables of several projects write, a JSON line each: the class, its description where the library does not
 * have one, the bytes, and the value that was set, as a Python literal.
 */
public final class Classes {
    private static final PrintStream OUT = System.out;

    private Classes() {}

    interface Body {
        void write(DataOutput out) throws IOException;
    }

    /** A class as users write them by hand. */
    abstract static class Own implements Writable {
        @Override
        public void readFields(DataInput in) {
            throw new UnsupportedOperationException();
        }
    }

    static final class Event extends Own {
        final long id;
        final String name;
        final String[] tags;
        final Long at;

        Event(long id, String name, String[] tags, Long at) {
            this.id = id;
            this.name = name;
            this.tags = tags;
            this.at = at;
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeLong(id);
            Text.writeString(out, name);
            out.writeInt(tags.length);
            for (String tag : tags) {
                Text.writeString(out, tag);
            }
            out.writeBoolean(at != null);
            if (at != null) {
                WritableUtils.writeVLong(out, at);
            }
        }
    }

    static final class Node extends Own {
        final int number;
        final Node next;

        Node(int number, Node next) {
            this.number = number;
            this.next = next;
        }

        @Override
        public void write(DataOutput out) throws IOException {
            WritableUtils.writeVInt(out, number);
            out.writeBoolean(next != null);
            if (next != null) {
                next.write(out);
            }
        }
    }

    static final class Versioned extends VersionedWritable {
        @Override
        public byte getVersion() {
            return 3;
        }

        @Override
        public void write(DataOutput out) throws IOException {
            super.write(out);
            out.writeInt(7);
        }
    }

    static final class Compressed extends CompressedWritable {
        @Override
        protected void readFieldsCompressed(DataInput in) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected void writeCompressed(DataOutput out) throws IOException {
            out.writeUTF("caf\u00e9");
            for (int i = 0; i < 100; i++) {
                out.writeInt(7);
            }
        }
    }

    static final class Generic extends GenericWritable {
        Generic(Writable value) {
            set(value);
        }

        @Override
        @SuppressWarnings("unchecked")
        protected Class<? extends Writable>[] getTypes() {
            return new Class[] {LongWritable.class, Text.class, NullWritable.class};
        }
    }

    static final class IntArray extends ArrayWritable {
        IntArray(int... numbers) {
            super(IntWritable.class);
            set(ints(numbers));
        }
    }

    static final class IntTable extends TwoDArrayWritable {
        IntTable(int[]... rows) {
            super(IntWritable.class);
            Writable[][] values = new Writable[rows.length][];
            for (int i = 0; i < rows.length; i++) {
                values[i] = ints(rows[i]);
            }
            set(values);
        }
    }

    enum Colour {
        RED,
        GREEN,
        BLUE
    }

    private static Writable[] ints(int... numbers) {
        Writable[] values = new Writable[numbers.length];
        for (int i = 0; i < numbers.length; i++) {
            values[i] = new IntWritable(numbers[i]);
        }
        return values;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void line(String name, String className, String description, byte[] data, String value) {
        StringBuilder hex = new StringBuilder();
        for (byte each : data) {
            hex.append(String.format("%02x", each));
        }
        OUT.printf(
                "{\"name\": %s, \"class\": %s, \"description\": %s, \"hex\": \"%s\", \"value\": %s}%n",
                quote(name), quote(className), description == null ? "null" : quote(description), hex, quote(value));
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < 0x20 || c > 0x7e) {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    private static byte[] written(Body body) throws IOException {
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        body.write(new DataOutputStream(data));
        return data.toByteArray();
    }

    /** A class that the library knows. */
    private static void known(String name, Writable object, String value) throws IOException {
        line(name, object.getClass().getName(), null, written(object::write), value);
    }

    /** A class that a user describes. */
    private static void described(String name, Writable object, String description, String value) throws IOException {
        line(name, object.getClass().getName(), description, written(object::write), value);
    }

    /** What DataOutput and WritableUtils write, without a class. */
    private static void body(String name, String description, Body body, String value) throws IOException {
        line(name, "com.example.Of", description, written(body), value);
    }

    private static <T> void serialized(String name, Serialization<? super T> how, Class<T> kind, T object, String value)
            throws IOException {
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        @SuppressWarnings("unchecked")
        Serializer<T> serializer = (Serializer<T>) how.getSerializer((Class) kind);
        serializer.open(data);
        serializer.serialize(object);
        serializer.close();
        line(name, kind.getName(), null, data.toByteArray(), value);
    }

    private static void scalars() throws IOException {
        body("numbers", "a: byte, b: short, c: int, d: long, e: float, f: double, g: boolean, h: char", out -> {
            out.writeByte(-128);
            out.writeShort(-32768);
            out.writeInt(Integer.MIN_VALUE);
            out.writeLong(Long.MIN_VALUE);
            out.writeFloat(1.5f);
            out.writeDouble(-0.1);
            out.writeBoolean(true);
            out.writeChar('\u20ac');
        }, "{'a': -128, 'b': -32768, 'c': -2147483648, 'd': -9223372036854775808, 'e': 1.5, 'f': -0.1, 'g': True, "
                + "'h': '\u20ac'}");
        for (long number : new long[] {0, 127, 128, -112, -113, 65536, -65537, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            body("vint " + number, "vint", out -> WritableUtils.writeVInt(out, (int) number), String.valueOf(number));
            body("vlong " + number, "vlong", out -> WritableUtils.writeVLong(out, number), String.valueOf(number));
        }
        body("vlong max", "vlong", out -> WritableUtils.writeVLong(out, Long.MAX_VALUE), "9223372036854775807");
        body("vlong min", "vlong", out -> WritableUtils.writeVLong(out, Long.MIN_VALUE), "-9223372036854775808");
        body("text", "text", out -> Text.writeString(out, "a\u00e9\u20ac\ud83d\ude00"), "'a\u00e9\u20ac\ud83d\ude00'");
        body("utf", "utf", out -> out.writeUTF("a\0\u00e9\u20ac\ud83d\ude00"), "'a\\x00\u00e9\u20ac\ud83d\ude00'");
        body("string", "string", out -> WritableUtils.writeString(out, "\u00e9"), "'\u00e9'");
        body("null string", "string", out -> WritableUtils.writeString(out, null), "None");
        body("strings", "strings", out -> WritableUtils.writeStringArray(out, new String[] {"a", null, ""}),
                "['a', None, '']");
        body("null strings", "strings", out -> out.writeInt(-1), "None"); // as readStringArray reads it
        body("enum", "text", out -> WritableUtils.writeEnum(out, Colour.GREEN), "'GREEN'");
        body("ordinal", "enum<vint, RED, GREEN, BLUE>",
                out -> WritableUtils.writeVInt(out, Colour.BLUE.ordinal()), "'BLUE'");
        body("counted bytes", "a: bytes, b: bytes<vint>, c: bytes<short>, d: bytes[2], e: rest", out -> {
            out.writeInt(2);
            out.write(bytes("ab"));
            WritableUtils.writeVInt(out, 1);
            out.write(bytes("c"));
            out.writeShort(0);
            out.write(bytes("de"));
            out.write(bytes("the rest"));
        }, "{'a': b'ab', 'b': b'c', 'c': b'', 'd': b'de', 'e': b'the rest'}");
        body("map", "map<text, int>", out -> {
            out.writeInt(2);
            Text.writeString(out, "a");
            out.writeInt(1);
            Text.writeString(out, "b");
            out.writeInt(2);
        }, "{'a': 1, 'b': 2}");
        body("map counted by vint", "map<vint, list<double>, vint>", out -> {
            WritableUtils.writeVInt(out, 1);
            WritableUtils.writeVInt(out, -5);
            out.writeInt(1);
            out.writeDouble(0.25);
        }, "{-5: [0.25]}");
        body("array", "point: double[2], more: {x: int, y: int?}[1]", out -> {
            out.writeDouble(1);
            out.writeDouble(2);
            out.writeInt(3);
            out.writeBoolean(false);
        }, "{'point': (1.0, 2.0), 'more': ({'x': 3, 'y': None},)}");
        body("without names", "int, text", out -> {
            out.writeInt(1);
            Text.writeString(out, "b");
        }, "(1, 'b')");
    }

    private static void hadoops() throws IOException {
        String event = "id: long, name: text, tags: list<text>, at: optional<vlong>";
        described("event", new Event(5, "\u00e9", new String[] {"a", "bc"}, 70000L), event,
                "{'id': 5, 'name': '\u00e9', 'tags': ['a', 'bc'], 'at': 70000}");
        described("event without time", new Event(-1, "", new String[0], null), event,
                "{'id': -1, 'name': '', 'tags': [], 'at': None}");
        described("list in itself", new Node(1, new Node(2, null)), "number: vint, next: optional<Classes$Node>",
                "{'number': 1, 'next': {'number': 2, 'next': None}}");
        described("VersionedWritable", new Versioned(), "version: byte = 3, number: int", "{'number': 7}");
        described("CompressedWritable", new Compressed(), "CompressedWritable<{name: utf, numbers: int[100]}>",
                "{'name': 'caf\u00e9', 'numbers': (7,) * 100}");
        String generic = "GenericWritable<LongWritable, Text, NullWritable>";
        described("GenericWritable of a number", new Generic(new LongWritable(5)), generic, "5");
        described("GenericWritable of text", new Generic(new Text("a")), generic, "'a'");
        described("GenericWritable of null", new Generic(NullWritable.get()), generic, "None");
        described("ArrayWritable", new IntArray(1, 2), "ArrayWritable<IntWritable>", "[1, 2]");
        described("ArrayWritable, empty", new IntArray(), "ArrayWritable<IntWritable>", "[]");
        described("TwoDArrayWritable", new IntTable(new int[] {1, 2}, new int[0], new int[] {3}),
                "TwoDArrayWritable<IntWritable>", "[[1, 2], [], [3]]");
        known("EnumSetWritable", new EnumSetWritable<>(EnumSet.of(Colour.RED, Colour.BLUE)), "['RED', 'BLUE']");
        known("EnumSetWritable, empty", new EnumSetWritable<>(EnumSet.noneOf(Colour.class), Colour.class), "[]");
        known("EnumSetWritable of null", new EnumSetWritable<>(null, Colour.class), "None");
        MapWritable map = new MapWritable();
        map.put(new Text("a"), new IntWritable(1));
        map.put(new Text("event"), new Event(5, "", new String[0], null));
        line("MapWritable with an event", MapWritable.class.getName(), "Classes$Event: " + event, written(map::write),
                "{'a': 1, 'event': {'id': 5, 'name': '', 'tags': [], 'at': None}}");
        line("ObjectWritable with an event", ObjectWritable.class.getName(), "Classes$Event: " + event,
                written(new ObjectWritable(new Event(5, "", new String[0], null))::write),
                "{'id': 5, 'name': '', 'tags': [], 'at': None}");
        body("an ObjectWritable and a MapWritable", "a: ObjectWritable, b: MapWritable", out -> {
            new ObjectWritable("text").write(out);
            MapWritable inner = new MapWritable();
            inner.put(new IntWritable(1), new LongWritable(2));
            inner.write(out);
        }, "{'a': 'text', 'b': {1: 2}}");
        body("a Writable after its class", "writable<text>", out -> {
            Text.writeString(out, IntWritable.class.getName());
            new IntWritable(5).write(out);
        }, "{'class': 'org.apache.hadoop.io.IntWritable', 'value': 5}");
    }

    private static void javas() throws IOException {
        JavaSerialization java = new JavaSerialization();
        serialized("a String", java, String.class, "a\u00e9\ud83d\ude00", "'a\u00e9\ud83d\ude00'");
        serialized("a Long", java, Long.class, -5L, "-5");
        serialized("an Integer", java, Integer.class, 5, "5");
        serialized("a Short", java, Short.class, (short) 5, "5");
        serialized("a Byte", java, Byte.class, (byte) -5, "-5");
        serialized("a Double", java, Double.class, 1.5, "1.5");
        serialized("a Float", java, Float.class, 1.5f, "1.5");
        serialized("a Boolean", java, Boolean.class, true, "True");
        serialized("a Character", java, Character.class, 'x', "'x'");
        object("byte[][]", new byte[][] {bytes("ab"), {}}, "[b'ab', b'']");
        object("int[]", new int[] {1, -2}, "[1, -2]");
        object("String[]", new String[] {"a", "a", null, "b"}, "['a', 'a', None, 'b']");
        object("Object[]", new Object[] {1, 2L, "x", new double[] {0.5}, Colour.RED}, "[1, 2, 'x', [0.5], 'RED']");
        // PySpark's saveAsPickleFile, with the pickles of [1, 'a'] and of [(2, None)] by protocol 4.
        byte[][] batches = {
            new byte[] {(byte) 0x80, 4, ']', '(', 'K', 1, (byte) 0x8c, 1, 'a', 'e', '.'},
            new byte[] {(byte) 0x80, 4, ']', 'K', 2, 'N', (byte) 0x86, 'a', '.'}};
        line("PySpark's pickles", BytesWritable.class.getName(), "pyspark",
                written(new BytesWritable(javaObject(batches))::write), "[1, 'a', (2, None)]");
    }

    private static byte[] javaObject(Serializable object) throws IOException {
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(data)) {
            out.writeObject(object);
        }
        return data.toByteArray();
    }

    private static void object(String name, Serializable object, String value) throws IOException {
        line(name, "com.example.Of", "java", javaObject(object), value);
    }

    private static void hbases() throws IOException {
        known("ImmutableBytesWritable", new ImmutableBytesWritable(bytes("row")), "b'row'");
        known("part of an array", new ImmutableBytesWritable(bytes("a row"), 2, 3), "b'row'");
        byte[] row = bytes("r");
        byte[] family = bytes("f");
        KeyValue put = new KeyValue(row, family, bytes("q"), 7L, KeyValue.Type.Put, bytes("value"));
        KeyValue delete = new KeyValue(row, family, bytes("old"), 6L, KeyValue.Type.DeleteColumn);
        String first = "{'row': b'r', 'family': b'f', 'qualifier': b'q', 'timestamp': 7, 'type': 'PUT', "
                + "'value': b'value'}";
        String second = "{'row': b'r', 'family': b'f', 'qualifier': b'old', 'timestamp': 6, "
                + "'type': 'DELETE_COLUMN', 'value': b''}";
        serialized("KeyValue", new KeyValueSerialization(), KeyValue.class, put, first);
        serialized("KeyValue of a deletion", new KeyValueSerialization(), KeyValue.class, delete, second);
        ResultSerialization results = new ResultSerialization();
        results.setConf(new Configuration(false));
        serialized("Result", results, Result.class, Result.create(new Cell[] {put, delete}),
                "[" + first + ", " + second + "]");
        serialized("Result, empty", results, Result.class, Result.create(new Cell[0]), "[]");
        Put mutation = new Put(row, 9L);
        mutation.addColumn(family, bytes("q"), bytes("value"));
        mutation.addColumn(family, bytes("s"), 8L, bytes(""));
        serialized("Put", new MutationSerialization(), Put.class, mutation,
                "{'row': b'r', 'type': 'PUT', 'cells': [{'row': b'r', 'family': b'f', 'qualifier': b'q', "
                        + "'timestamp': 9, 'type': 'PUT', 'value': b'value'}, {'row': b'r', 'family': b'f', "
                        + "'qualifier': b's', 'timestamp': 8, 'type': 'PUT', 'value': b''}]}");
        Delete deletion = new Delete(row, 9L);
        deletion.addColumns(family, bytes("q"), 5L);
        serialized("Delete", new MutationSerialization(), Delete.class, deletion,
                "{'row': b'r', 'type': 'DELETE', 'cells': [{'row': b'r', 'family': b'f', 'qualifier': b'q', "
                        + "'timestamp': 5, 'type': 'DELETE_COLUMN', 'value': b''}]}");
    }

    private static void hives() throws IOException {
        known("Hive's ByteWritable", new org.apache.hadoop.hive.serde2.io.ByteWritable((byte) -5), "-5");
        known("Hive's ShortWritable", new org.apache.hadoop.hive.serde2.io.ShortWritable((short) -300), "-300");
        known("Hive's DoubleWritable", new org.apache.hadoop.hive.serde2.io.DoubleWritable(0.1), "0.1");
        known("DateWritable", new DateWritable(20574), "20574");
        known("DateWritable before 1970", new DateWritable(-1), "-1");
        known("DateWritableV2", new DateWritableV2(20574), "20574");
        for (long[] time : new long[][] {
            {1777636800L, 0}, {1777636800L, 123456789}, {0, 500000000}, {-1, 1}, {1L << 33, 0}, {-(1L << 33), 120}
        }) {
            TimestampWritableV2 timestamp = new TimestampWritableV2();
            timestamp.set(org.apache.hadoop.hive.common.type.Timestamp.ofEpochSecond(time[0], (int) time[1]));
            known("TimestampWritableV2 " + time[0] + " " + time[1], timestamp,
                    "{'seconds': " + time[0] + ", 'nanos': " + time[1] + "}");
            java.sql.Timestamp older = new java.sql.Timestamp(time[0] * 1000);
            older.setNanos((int) time[1]);
            known("TimestampWritable " + time[0] + " " + time[1], new TimestampWritable(older),
                    "{'seconds': " + time[0] + ", 'nanos': " + time[1] + "}");
        }
        for (String number : new String[] {"0", "1.5", "-12345678901234567890.123", "1000"}) {
            known("HiveDecimalWritable " + number,
                    new HiveDecimalWritable(HiveDecimal.create(new BigDecimal(number))), "'" + number + "'");
        }
        known("HiveVarcharWritable", new HiveVarcharWritable(new HiveVarchar("\u00e9", 5)), "'\u00e9'");
        known("HiveCharWritable", new HiveCharWritable(new HiveChar("ab", 5)), "'ab   '");
        known("HiveIntervalYearMonthWritable",
                new HiveIntervalYearMonthWritable(new HiveIntervalYearMonth(1, 2)), "14");
        known("HiveIntervalDayTimeWritable",
                new HiveIntervalDayTimeWritable(new HiveIntervalDayTime(1, 0, 0, 5, 7)),
                "{'seconds': 86405, 'nanos': 7}");
        BytesRefArrayWritable columns = new BytesRefArrayWritable(2);
        columns.set(0, new BytesRefWritable(bytes("ab")));
        columns.set(1, new BytesRefWritable(new byte[0]));
        known("BytesRefArrayWritable", columns, "[b'ab', b'']");
    }

    private static void mahouts() throws IOException {
        Vector sparse = new RandomAccessSparseVector(300);
        sparse.set(200, 2.5);
        Vector sequential = new SequentialAccessSparseVector(300);
        sequential.set(3, 1.5);
        sequential.set(200, 2.5);
        known("dense VectorWritable", new VectorWritable(new DenseVector(new double[] {1, 2.5})),
                "{'name': None, 'size': 2, 'indices': None, 'values': [1.0, 2.5]}");
        known("sparse VectorWritable", new VectorWritable(sparse),
                "{'name': None, 'size': 300, 'indices': [200], 'values': [2.5]}");
        known("sequential VectorWritable", new VectorWritable(sequential),
                "{'name': None, 'size': 300, 'indices': [3, 200], 'values': [1.5, 2.5]}");
        known("named VectorWritable", new VectorWritable(new NamedVector(sequential, "\u00e9")),
                "{'name': '\u00e9', 'size': 300, 'indices': [3, 200], 'values': [1.5, 2.5]}");
        VectorWritable lax = new VectorWritable(new DenseVector(new double[] {1, 2.5}), true);
        known("VectorWritable of floats", lax,
                "{'name': None, 'size': 2, 'indices': None, 'values': [1.0, 2.5]}");
    }

    private static void nutches() throws IOException {
        CrawlDatum datum = new CrawlDatum(CrawlDatum.STATUS_DB_FETCHED, 86400, 1.5f);
        datum.setFetchTime(1777636800000L);
        datum.setModifiedTime(5);
        datum.setRetriesSinceFetch(2);
        datum.setSignature(new byte[] {1, 2});
        datum.getMetaData().put(new Text("k"), new Text("v"));
        known("CrawlDatum", datum, "{'status': 2, 'fetchTime': 1777636800000, 'retries': 2, 'fetchInterval': 86400, "
                + "'score': 1.5, 'modifiedTime': 5, 'signature': b'\\x01\\x02', 'metaData': {'k': 'v'}}");
        CrawlDatum bare = new CrawlDatum(CrawlDatum.STATUS_DB_UNFETCHED, 1);
        bare.setFetchTime(0);
        known("CrawlDatum without metadata", bare, "{'status': 1, 'fetchTime': 0, 'retries': 0, 'fetchInterval': 1, "
                + "'score': 0.0, 'modifiedTime': 0, 'signature': b'', 'metaData': None}");
        Metadata metadata = new Metadata();
        metadata.add("Server", "a");
        metadata.add("Server", "b");
        known("Content", new Content("http://a/", "http://b/", bytes("<html>"), "text/html", metadata,
                new Configuration()), "{'url': 'http://a/', 'base': 'http://b/', 'content': b'<html>', "
                + "'contentType': 'text/html', 'metadata': {'Server': ['a', 'b']}}");
        known("ParseText", new ParseText("a text"), "'a text'");
        Outlink[] links = {new Outlink("http://c/", "anchor")};
        known("ParseData", new ParseData(new ParseStatus(ParseStatus.SUCCESS, 3, "x"), "title", links, metadata),
                "{'status': {'majorCode': 1, 'minorCode': 3, 'args': ['x']}, 'title': 'title', 'outlinks': "
                        + "[{'toUrl': 'http://c/', 'anchor': 'anchor', 'metadata': None}], "
                        + "'contentMeta': {'Server': ['a', 'b']}, 'parseMeta': {}}");
        Inlinks inlinks = new Inlinks();
        inlinks.add(new Inlink("http://a/", "here"));
        known("Inlinks", inlinks, "[{'fromUrl': 'http://a/', 'anchor': 'here'}]");
    }

    public static void main(String[] args) throws IOException {
        scalars();
        hadoops();
        javas();
        hbases();
        hives();
        mahouts();
        nutches();
        OUT.flush();
    }
}
