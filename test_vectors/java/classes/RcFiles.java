import java.io.File;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hive.common.type.Date;
import org.apache.hadoop.hive.common.type.HiveChar;
import org.apache.hadoop.hive.common.type.HiveDecimal;
import org.apache.hadoop.hive.common.type.HiveVarchar;
import org.apache.hadoop.hive.common.type.Timestamp;
import org.apache.hadoop.hive.ql.io.RCFile;
import org.apache.hadoop.hive.serde2.AbstractSerDe;
import org.apache.hadoop.hive.serde2.columnar.BytesRefArrayWritable;
import org.apache.hadoop.hive.serde2.columnar.BytesRefWritable;
import org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe;
import org.apache.hadoop.hive.serde2.columnar.LazyBinaryColumnarSerDe;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorFactory;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorUtils;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorUtils.ObjectInspectorCopyOption;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoUtils;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * RCFiles that Hive's own code wrote, a JSON line each: the columns with Hive's type and that of a column of
 * typedbytes, the file, and the rows that Hive's own code reads from it, as a Python literal. Without Hadoop's native
 * code it does not read the bzip2 that it writes: those rows are what its SerDe makes of the cells written.
 */
public final class RcFiles {
    private static final PrintStream OUT = System.out;
    private static final String MADE_BY = "made by";
    private static final String CODECS = "org.apache.hadoop.io.compress.";

    /** Names, Hive's types, ours. */
    private static final String[][] SCALARS = {
        {"b", "boolean", "bool"}, {"t", "tinyint", "byte"}, {"s", "smallint", "short"}, {"i", "int", "int"},
        {"l", "bigint", "long"}, {"f", "float", "float"}, {"d", "double", "double"}, {"text", "string", "string"},
        {"v", "varchar(10)", "string"}, {"c", "char(5)", "string"}, {"data", "binary", "bytes"},
        {"day", "date", "date"}, {"at", "timestamp", "timestamp<us>"}, {"n", "decimal(38,4)", "decimal<38, 4>"},
    };
    private static final String[][] NESTED = {
        {"ints", "array<int>", "list<int>"}, {"counts", "map<string,bigint>", "map<string, long>"},
        {"pair", "struct<a:int,b:string>", "row<a: int, b: string>"},
        {"deep", "array<struct<x:double,y:array<string>>>", "list<struct<x: double, y: list<string>>>"},
        {"table", "map<int,array<map<string,date>>>", "map<int, list<map<string, date>>>"},
    };
    private static final String[][] PLAIN = {
        {"id", "bigint", "long"}, {"name", "string", "string"}, {"x", "double", "double"},
    };

    private static final String[][] NUMBERS = {
        {"b", "boolean", "bool"}, {"t", "tinyint", "byte"}, {"s", "smallint", "short"}, {"i", "int", "int"},
        {"l", "bigint", "long"}, {"f", "float", "float"}, {"d", "double", "double"},
        {"n", "decimal(10,2)", "decimal<10, 2>"}, {"day", "date", "date"}, {"at", "timestamp", "timestamp<us>"},
        {"data", "binary", "bytes"},
    };
    private static final String[][] PARTS = {
        {"ints", "array<int>", "list<int>"}, {"texts", "array<string>", "list<string>"},
        {"map", "map<string,string>", "map<string, string>"},
        {"pair", "struct<a:int,b:string>", "row<a: int, b: string>"}, {"one", "struct<a:string>", "row<a: string>"},
    };
    /** Cells that not all types have. */
    private static final String[] ODD_SCALARS = {
        "", "TRUE", "False", "t", "1", "0", "+5", "-0", "-", "+", "12.7", "12.x", "-.5", ".5", "5.", " 5", "5 ",
        "1e3", "1E-2", "128", "32768", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808",
        "-9223372036854775808", "99999999999999999999", "NaN", "nan", "Infinity", "-Infinity", "inf", "1.5f", "2d",
        "0x10", "1_000", "abc", "\\N", "\\n", "null", "2024-01-02", "2024-1-2", "2024-01-02 ", "2024-02-30",
        "2024-13-01", "2024-01-02 03:04:05", "2024-01-02 3:4:5", "2024-01-02 03:04:05.5",
        "2024-01-02 03:04:05.123456", "2024-01-02T03:04:05", "2024-01-02 03:04", "2024-01-02 24:00:00", "AQID",
        "AQI=", "AQI", "AQID\n", "A-_D", "AQ!D", "====", "A", "\u00ff\u00fe", "00000000000000000000000012", "1e400",
        "-1e400", "123456789012.5", "1.005", "1.004", "12e2", "0.", "--1", "+-1", "0e30",
        "-0.000000000000000000000000000", "1e23", "123456789012345678.5", "179769313486231570000e288",
    };
    private static final String[] ODD_PARTS = {
        "", "\u0002", "\u0002\u0002", "1", "1\u0002", "\u00021", "\\N", "\\N\u0002\\N", "1\u00022\u00023",
        "a\u0003b", "a\u0003", "\u0003b", "\u0003", "a", "a\u0003b\u0002", "a\u0003b\u0002c",
        "a\u0003b\u0002a\u0003c", "\\N\u0003b", "a\u0003\\N", "a\u0003b\u0003c", "x\u00022",
    };

    private RcFiles() {}

    private static List<Object> row(Object... values) {
        return Arrays.asList(values);
    }

    private static Map<Object, Object> map(Object... pairs) {
        Map<Object, Object> made = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            made.put(pairs[i], pairs[i + 1]);
        }
        return made;
    }

    private static List<List<Object>> scalars() {
        List<List<Object>> rows = new ArrayList<>();
        rows.add(row(true, (byte) 1, (short) 2, 3, 4L, 0.5f, 0.25, "text", new HiveVarchar("vary", 10),
            new HiveChar("ch", 5), new byte[] {1, 2, 3}, Date.valueOf("2024-02-29"),
            Timestamp.valueOf("2024-02-29 12:34:56.789012"), HiveDecimal.create("123.45")));
        rows.add(row(false, Byte.MIN_VALUE, Short.MIN_VALUE, Integer.MIN_VALUE, Long.MIN_VALUE, -Float.MAX_VALUE,
            -Double.MAX_VALUE, "", new HiveVarchar("", 10), new HiveChar("", 5), null,
            Date.valueOf("0001-01-01"), Timestamp.valueOf("1900-01-01 00:00:00.000001"),
            HiveDecimal.create("-9999999999999999999999999999999999.9999")));
        rows.add(row(new Object[SCALARS.length]));
        rows.add(row(true, Byte.MAX_VALUE, Short.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE, Float.MIN_VALUE,
            Double.MIN_VALUE, "\u00fc\u20ac\ud83d\ude00", new HiveVarchar("\u00fc", 10), new HiveChar("five5", 5),
            new byte[] {(byte) 0xff, 0, (byte) 0xfe, 'x'}, Date.valueOf("9999-12-31"),
            Timestamp.valueOf("9999-12-31 23:59:59.999999"), HiveDecimal.create("0.0001")));
        rows.add(row(false, (byte) 0, (short) -300, 128, -70000000000L, Float.NaN, Double.POSITIVE_INFINITY, "N",
            new HiveVarchar("\\", 10), new HiveChar("a b", 5), new byte[] {0}, Date.valueOf("1969-12-31"),
            Timestamp.valueOf("1970-01-01 00:00:00"), HiveDecimal.create("0")));
        rows.add(row(false, (byte) -1, (short) 0, -129, 1L << 40, 1e10f, 1.7e-300, "with\ttab, and more",
            new HiveVarchar("0123456789", 10), new HiveChar("z", 5), new byte[] {'a', 'b'},
            Date.valueOf("1970-01-01"), Timestamp.valueOf("2038-01-19 03:14:08.5"), HiveDecimal.create("-1000")));
        return rows;
    }

    private static List<List<Object>> nested() {
        List<List<Object>> rows = new ArrayList<>();
        rows.add(row(row(1, -2, 300), map("one", 1L, "two", null), row(7, "seven"),
            row(row(0.5, row("a", "b")), row(null, row("c"))),
            map(1, row(map("d", Date.valueOf("2001-02-03")), map("e", null)))));
        rows.add(row(new Object[NESTED.length]));
        rows.add(row(row(), map(), row(null, null), row(), map()));
        rows.add(row(row((Object) null, 5, null), map("k", Long.MIN_VALUE), row(0, ""), row(row(-1.5, row())),
            map(9, row(), 10, null)));
        rows.add(row(row(1, 2, 3, 4, 5, 6, 7, 8, 9, null), map("a", 1L, "b", 2L, "c", 3L, "d", 4L, "e", null),
            row(-1, "\u00fc"), row((Object) null, row(2.0, row("x", null, "z"))), map(-1, row(map("f", null)))));
        return rows;
    }

    private static List<List<Object>> plain(int nrows) {
        List<List<Object>> rows = new ArrayList<>();
        for (int i = 0; i < nrows; i++) {
            rows.add(row(i == 5 ? null : (long) i * i, i % 7 == 0 ? null : "name " + i / 10, i / 4.0));
        }
        return rows;
    }

    private static AbstractSerDe serde(boolean isBinary, String[][] columns) throws Exception {
        AbstractSerDe serde = isBinary ? new LazyBinaryColumnarSerDe() : new ColumnarSerDe();
        Properties properties = new Properties();
        properties.setProperty("columns", joined(columns, 0, ","));
        properties.setProperty("columns.types", joined(columns, 1, ":"));
        serde.initialize(new Configuration(), properties, null);
        return serde;
    }

    private static String joined(String[][] columns, int which, String separator) {
        List<String> parts = new ArrayList<>();
        for (String[] column : columns) {
            parts.add(column[which]);
        }
        return String.join(separator, parts);
    }

    private static ObjectInspector rowInspector(String[][] columns) {
        List<String> names = new ArrayList<>();
        List<ObjectInspector> inspectors = new ArrayList<>();
        for (String[] column : columns) {
            names.add(column[0]);
            inspectors.add(TypeInfoUtils.getStandardJavaObjectInspectorFromTypeInfo(
                TypeInfoUtils.getTypeInfoFromTypeString(column[1])));
        }
        return ObjectInspectorFactory.getStandardStructObjectInspector(names, inspectors);
    }

    /** The cells of rows that a SerDe serializes. */
    private static List<BytesRefArrayWritable> serialized(boolean isBinary, String[][] columns, List<List<Object>> rows)
            throws Exception {
        AbstractSerDe serde = serde(isBinary, columns);
        List<BytesRefArrayWritable> all = new ArrayList<>();
        for (List<Object> row : rows) {
            BytesRefArrayWritable cells = (BytesRefArrayWritable) serde.serialize(row, rowInspector(columns));
            BytesRefArrayWritable copied = new BytesRefArrayWritable(columns.length);
            for (int i = 0; i < cells.size(); i++) {
                copied.set(i, new BytesRefWritable(cells.get(i).getBytesCopy()));
            }
            all.add(copied);
        }
        return all;
    }

    private static BytesRefArrayWritable cells(String... texts) {
        BytesRefArrayWritable made = new BytesRefArrayWritable(texts.length);
        for (int i = 0; i < texts.length; i++) {
            made.set(i, new BytesRefWritable(texts[i].getBytes(StandardCharsets.ISO_8859_1)));
        }
        return made;
    }

    /** Write cells as an RCFile, and a line with it and what Hive reads from it. */
    private static void file(String name, boolean isBinary, String[][] columns, String codec, boolean isOld,
            int interval, int ncolumns, List<BytesRefArrayWritable> rows) throws Exception {
        Configuration conf = new Configuration();
        conf.setBoolean("hive.exec.rcfile.use.explicit.header", !isOld);
        conf.setInt("hive.io.rcfile.record.interval", interval);
        conf.setInt("hive.io.rcfile.column.number.conf", ncolumns);
        FileSystem local = new RawLocalFileSystem();
        local.initialize(URI.create("file:///"), conf);
        File temporary = File.createTempFile("vector", ".rc");
        Path path = new Path(temporary.toURI());
        CompressionCodec made = codec == null
            ? null : (CompressionCodec) ReflectionUtils.newInstance(Class.forName(CODECS + codec), conf);
        RCFile.Writer writer = new RCFile.Writer(
            local, conf, path, null, RCFile.createMetadata(new Text(MADE_BY), new Text("Hive")), made);
        for (BytesRefArrayWritable row : rows) {
            writer.append(row);
        }
        writer.close();
        String expected = "BZip2Codec".equals(codec)
            ? deserialized(serde(isBinary, columns), rows) : read(local, path, conf, isBinary, columns);
        OUT.printf("{\"name\":\"%s\",\"serde\":\"%s\",\"columns\":%s,\"hex\":\"%s\",\"rows\":%s}%n", name,
            isBinary ? "binary" : "text", json(columns), hex(temporary, name), quoted(expected));
        temporary.delete();
    }

    private static String read(FileSystem local, Path path, Configuration conf, boolean isBinary, String[][] columns)
            throws Exception {
        conf.setBoolean("hive.io.file.read.all.columns", true);
        RCFile.Reader reader = new RCFile.Reader(local, path, conf);
        AbstractSerDe serde = serde(isBinary, columns);
        LongWritable number = new LongWritable();
        StringBuilder out = new StringBuilder("[");
        BytesRefArrayWritable cells = new BytesRefArrayWritable();
        while (reader.next(number)) {
            reader.getCurrentRow(cells);
            print(serde, cells, out);
        }
        reader.close();
        return out.append("]").toString();
    }

    private static String deserialized(AbstractSerDe serde, List<BytesRefArrayWritable> rows) throws Exception {
        StringBuilder out = new StringBuilder("[");
        for (BytesRefArrayWritable cells : rows) {
            print(serde, cells, out);
        }
        return out.append("]").toString();
    }

    private static void print(AbstractSerDe serde, BytesRefArrayWritable cells, StringBuilder out) throws Exception {
        ObjectInspector inspector = serde.getObjectInspector();
        print(ObjectInspectorUtils.copyToStandardObject(
            serde.deserialize(cells), inspector, ObjectInspectorCopyOption.JAVA), out);
        out.append(", ");
    }

    /** As a Python literal; a map is a list of pairs. */
    private static void print(Object value, StringBuilder out) {
        if (value == null) {
            out.append("None");
        } else if (value instanceof Boolean) {
            out.append((Boolean) value ? "True" : "False");
        } else if (value instanceof Float || value instanceof Double) {
            double number = ((Number) value).doubleValue();
            String named = Double.isNaN(number) ? "nan" : number > 0 ? "inf" : "-inf";
            out.append(Double.isFinite(number) ? String.valueOf(number) : named);
        } else if (value instanceof Number) {
            out.append(value);
        } else if (value instanceof byte[]) {
            out.append("bytes.fromhex('").append(HexFormat.of().formatHex((byte[]) value)).append("')");
        } else if (value instanceof HiveDecimal) {
            out.append("Decimal('").append(value).append("')");
        } else if (value instanceof Date) {
            out.append("date.fromisoformat('").append(value).append("')");
        } else if (value instanceof Timestamp) {
            String text = value.toString();
            int point = text.indexOf('.');
            String fraction = point < 0 ? "" : text.substring(point + 1);
            out.append("datetime.fromisoformat('").append(point < 0 ? text : text.substring(0, point)).append('.')
                .append((fraction + "000000").substring(0, Math.max(6, fraction.length()))).append("')");
        } else if (value instanceof List) {
            out.append("[");
            for (Object each : (List<?>) value) {
                print(each, out);
                out.append(", ");
            }
            out.append("]");
        } else if (value instanceof Map) {
            out.append("[");
            for (Map.Entry<?, ?> each : ((Map<?, ?>) value).entrySet()) {
                out.append("(");
                print(each.getKey(), out);
                out.append(", ");
                print(each.getValue(), out);
                out.append("), ");
            }
            out.append("]");
        } else {
            out.append("'");
            for (char each : value.toString().toCharArray()) {
                boolean isSpecial = each == '\\' || each == '\'';
                out.append(isSpecial ? "\\" : "").append(each < 0x20 ? String.format("\\x%02x", (int) each) : each);
            }
            out.append("'");
        }
    }

    private static String json(String[][] columns) {
        List<String> parts = new ArrayList<>();
        for (String[] column : columns) {
            parts.add(String.format("[\"%s\",\"%s\",\"%s\"]", (Object[]) column));
        }
        return "[" + String.join(",", parts) + "]";
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char each : text.toCharArray()) {
            boolean isPlain = 0x20 <= each && each <= 0x7e;
            out.append(each == '"' || each == '\\' ? "\\" : "");
            out.append(isPlain ? each : String.format("\\u%04x", (int) each));
        }
        return out.append("\"").toString();
    }

    /** The file, with the MD5 of the name for its random marker. */
    private static String hex(File file, String name) throws Exception {
        byte[] data = Files.readAllBytes(file.toPath());
        byte[] given = MessageDigest.getInstance("MD5").digest(name.getBytes(StandardCharsets.UTF_8));
        byte[] marker = new byte[16];
        System.arraycopy(data, markerStart(data), marker, 0, 16);
        for (int i = 0; i + 16 <= data.length; i++) {
            if (Arrays.equals(data, i, i + 16, marker, 0, 16)) {
                System.arraycopy(given, 0, data, i, 16);
            }
        }
        return HexFormat.of().formatHex(data);
    }

    /** After the last text of the metadata, which are two. */
    private static int markerStart(byte[] data) {
        String text = new String(data, StandardCharsets.ISO_8859_1);
        int number = text.indexOf(RCFile.COLUMN_NUMBER_METADATA_STR) + RCFile.COLUMN_NUMBER_METADATA_STR.length();
        int made = text.indexOf(MADE_BY) + MADE_BY.length();
        return Math.max(number + 1 + data[number], made + 1 + data[made]);
    }

    public static void main(String[] args) throws Exception {
        int all = Integer.MAX_VALUE;
        for (boolean isBinary : new boolean[] {false, true}) {
            String serde = isBinary ? "binary" : "text";
            file("scalars/" + serde, isBinary, SCALARS, null, false, all, SCALARS.length,
                serialized(isBinary, SCALARS, scalars()));
            file("nested/" + serde, isBinary, NESTED, null, false, all, NESTED.length,
                serialized(isBinary, NESTED, nested()));
            for (String codec : new String[] {null, "DefaultCodec", "GzipCodec", "BZip2Codec", "SnappyCodec"}) {
                String name = codec == null ? "none" : codec.replace("Codec", "").toLowerCase();
                for (boolean isOld : new boolean[] {false, true}) {
                    file(name + "/" + serde + (isOld ? "/old" : ""), isBinary, PLAIN, codec, isOld, all, 3,
                        serialized(isBinary, PLAIN, plain(23)));
                }
            }
            file("groups/" + serde, isBinary, PLAIN, "DefaultCodec", false, 10, 3,
                serialized(isBinary, PLAIN, plain(75)));
        }
        file("empty", false, PLAIN, "DefaultCodec", false, all, 3, new ArrayList<>());
        file("wider schema", false, PLAIN, null, false, all, 2,
            List.of(cells("1", "one"), cells("\\N", "\\N"), cells("3", "")));
        file("narrower schema", false, Arrays.copyOf(PLAIN, 1), null, false, all, 2,
            List.of(cells("1", "one"), cells("2", "")));
        List<BytesRefArrayWritable> odd = new ArrayList<>();
        for (String text : ODD_SCALARS) {
            String[] copies = new String[NUMBERS.length];
            Arrays.fill(copies, text);
            odd.add(cells(copies));
        }
        file("odd scalars", false, NUMBERS, null, false, all, NUMBERS.length, odd);
        odd.clear();
        for (String text : ODD_PARTS) {
            String[] copies = new String[PARTS.length];
            Arrays.fill(copies, text);
            odd.add(cells(copies));
        }
        file("odd parts", false, PARTS, null, false, all, PARTS.length, odd);
    }
}
