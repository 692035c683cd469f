import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.contrib.serde2.TypedBytesSerDe;
import org.apache.hadoop.hive.contrib.util.typedbytes.TypedBytesRecordReader;
import org.apache.hadoop.hive.contrib.util.typedbytes.TypedBytesRecordWriter;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorFactory;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.PrimitiveObjectInspectorFactory;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.io.Writable;

/** What Hive's TRANSFORM gives to a script, and what it makes of what the script writes: a JSON line each. */
public final class Hive {
    private static final PrintStream OUT = System.out;
    private static final Configuration CONF = new Configuration();
    private static final String ALL = "tinyint,smallint,int,bigint,float,double,boolean,string";

    private Hive() {}

    private static Properties table(String types) {
        Properties properties = new Properties();
        String[] names = types.split(",");
        for (int i = 0; i < names.length; i++) {
            names[i] = "c" + i;
        }
        properties.setProperty("columns", String.join(",", names));
        properties.setProperty("columns.types", types);
        return properties;
    }

    private static String text(Object value) {
        StringBuilder made = new StringBuilder("\"");
        for (char c : String.valueOf(value).toCharArray()) {
            made.append(c < 32 || c > 126 || c == '"' || c == '\\' ? String.format("\\u%04x", (int) c) : c);
        }
        return made.append('"').toString();
    }

    /** A row as Hive gives it to a script, by the inspectors of Java's own objects. */
    private static void give(String name, String types, Object... row) {
        String found;
        try {
            TypedBytesSerDe serde = new TypedBytesSerDe();
            serde.initialize(CONF, table(types));
            List<String> names = new ArrayList<>();
            List<ObjectInspector> inspectors = new ArrayList<>();
            for (String type : types.split(",")) {
                names.add("c" + names.size());
                inspectors.add(PrimitiveObjectInspectorFactory.getPrimitiveJavaObjectInspector(
                        TypeInfoFactory.getPrimitiveTypeInfo(type)));
            }
            ByteArrayOutputStream sink = new ByteArrayOutputStream();
            TypedBytesRecordWriter writer = new TypedBytesRecordWriter();
            writer.initialize(sink, CONF);
            writer.write(serde.serialize(
                    Arrays.asList(row), ObjectInspectorFactory.getStandardStructObjectInspector(names, inspectors)));
            writer.close();
            found = "\"hex\": \"" + HexFormat.of().formatHex(sink.toByteArray()) + "\"";
        } catch (Exception | Error error) {
            found = "\"error\": " + text(error);
        }
        List<String> values = new ArrayList<>();
        for (Object value : row) {
            values.add(value == null ? "null" : text(value));
        }
        OUT.println("{\"given\": " + text(name) + ", \"types\": " + text(types) + ", \"row\": " + values + ", " + found
                + "}");
    }

    /** What Hive reads of the bytes that a script has written. */
    private static void take(String name, String types, String hex) {
        List<String> rows = new ArrayList<>();
        String error = "null";
        try {
            TypedBytesSerDe serde = new TypedBytesSerDe();
            serde.initialize(CONF, table(types));
            TypedBytesRecordReader reader = new TypedBytesRecordReader();
            reader.initialize(new ByteArrayInputStream(HexFormat.of().parseHex(hex)), CONF, table(types));
            Writable row = reader.createRow();
            while (reader.next(row) > 0) {
                List<String> values = new ArrayList<>();
                for (Object value : (List<?>) serde.deserialize(row)) {
                    values.add(value == null ? "null" : text(value));
                }
                rows.add(values.toString());
            }
        } catch (Exception | Error failure) {
            error = text(failure);
        }
        OUT.println("{\"taken\": " + text(name) + ", \"types\": " + text(types) + ", \"hex\": " + text(hex)
                + ", \"rows\": " + rows + ", \"error\": " + error + "}");
    }

    public static void main(String[] arguments) {
        give("least", ALL, (byte) -128, (short) -32768, -1 << 31, Long.MIN_VALUE, -1.5f, -0.1, false, "");
        give("most", ALL, (byte) 127, (short) 32767, Integer.MAX_VALUE, Long.MAX_VALUE, 1e30f, 1e300, true,
                "h\u00e9\u20ac\ud83d\ude00\u0000z");
        give("infinite", "float,double", Float.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY);
        for (String type : ALL.split(",")) {
            give("null of " + type, type, new Object[] {null});
        }
        give("date", "date", new Object[] {null});
        give("binary", "binary", new Object[] {null});
        String least = "0180" + "0b8000" + "0380000000" + "048000000000000000" + "05bfc00000" + "06bfb999999999999a"
                + "0200" + "0700000000" + "b1";
        String most = "017f" + "0b7fff" + "037fffffff" + "047fffffffffffffff" + "057149f2ca" + "067e37e43c8800759c"
                + "0201" + "070000000168" + "b1";
        take("both", ALL, least + most);
        take("none", ALL, "");
        take("cut in a value", ALL, least + "017f0b7f");
        take("cut after a value", ALL, least + "017f");
        take("no end of the last row", "int", "0300000001b10300000002");
        take("int then long", "bigint", "0300000001b1040000000000000002b1");
        take("int for bigint", "bigint", "0300000001b10300000002b1");
        take("long for int", "int", "040000000200000001b1");
        take("string for int", "int", "07000000023132b10700000001" + "78b1");
        take("null first", "string", "0cb10700000001" + "61b1");
        take("null second", "string", "070000000161b1" + "0cb1");
        take("too few", "int,string", "0300000001b1");
        take("too many", "int", "03000000010300000002b1");
        take("bytes", "string", "000000000161b1");
        take("empty row", "string", "b1070000000161b1");
    }
}
