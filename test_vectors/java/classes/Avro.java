import java.io.File;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.hadoop.io.AvroSequenceFile;
import org.apache.avro.mapred.AvroKey;
import org.apache.avro.mapred.AvroValue;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.SequenceFile.CompressionType;
import org.apache.hadoop.io.Text;

/** SequenceFiles that Avro wrote, a JSON line each: the file, and the pairs written, as a Python literal. */
public final class Avro {
    private static final PrintStream OUT = System.out;
    private static final Configuration CONF = new Configuration();

    private static final String SCALARS = "{'type': 'record', 'name': 'Scalars', 'namespace': 'com.example',"
            + " 'fields': ["
            + "{'name': 'n', 'type': 'null'}, {'name': 'b', 'type': 'boolean'}, {'name': 'i', 'type': 'int'},"
            + "{'name': 'l', 'type': 'long'}, {'name': 'f', 'type': 'float'}, {'name': 'd', 'type': 'double'},"
            + "{'name': 'data', 'type': 'bytes'}, {'name': 's', 'type': 'string'},"
            + "{'name': 'e', 'type': {'type': 'enum', 'name': 'Colour', 'symbols': ['RED', 'GREEN']}},"
            + "{'name': 'x', 'type': {'type': 'fixed', 'name': 'Two', 'size': 2}},"
            + "{'name': 'again', 'type': 'Two'}, {'name': 'maybe', 'type': ['null', 'com.example.Colour']}]}";
    private static final String PARTS = "{'type': 'record', 'name': 'Parts', 'fields': ["
            + "{'name': 'ints', 'type': {'type': 'array', 'items': 'int'}},"
            + "{'name': 'counts', 'type': {'type': 'map', 'values': 'long'}},"
            + "{'name': 'any', 'type': ['null', 'string', 'long', 'double', {'type': 'array', 'items': 'string'}]},"
            + "{'name': 'next', 'type': ['null', 'Parts']},"
            + "{'name': 'day', 'type': {'type': 'int', 'logicalType': 'date'}},"
            + "{'name': 'at', 'type': {'type': 'long', 'logicalType': 'timestamp-micros'}},"
            + "{'name': 'price', 'type': {'type': 'bytes', 'logicalType': 'decimal', 'precision': 9, 'scale': 2}}]}";

    private Avro() {}

    private static Schema schema(String text) {
        return new Schema.Parser().parse(text.replace('\'', '"'));
    }

    private static GenericData.Record record(Schema schema, Object... values) {
        GenericData.Record made = new GenericData.Record(schema);
        for (int i = 0; i < values.length; i++) {
            made.put(i, values[i]);
        }
        return made;
    }

    private static void file(String name, Schema key, Schema value, CompressionType compression, Object[][] pairs,
            String expected) throws Exception {
        FileSystem files = new RawLocalFileSystem();
        files.initialize(new File("/").toURI(), CONF);
        File folder = Files.createTempDirectory("avro").toFile();
        Path path = new Path(new File(folder, "part").toURI());
        AvroSequenceFile.Writer.Options how = new AvroSequenceFile.Writer.Options()
                .withFileSystem(files).withConfiguration(CONF).withOutputPath(path).withCompressionType(compression);
        how = key == null ? how.withKeyClass(Text.class) : how.withKeySchema(key);
        how = value == null ? how.withValueClass(Text.class) : how.withValueSchema(value);
        try (SequenceFile.Writer writer = AvroSequenceFile.createWriter(how)) {
            for (Object[] pair : pairs) {
                writer.append(key == null ? pair[0] : new AvroKey<>(pair[0]),
                        value == null ? pair[1] : new AvroValue<>(pair[1]));
            }
        }
        byte[] data = withFixedMarker(Files.readAllBytes(new File(folder, "part").toPath()), name, pairs.length);
        OUT.println("{\"name\": \"" + name + "\", \"hex\": \"" + HexFormat.of().formatHex(data) + "\", \"pairs\": \""
                + expected.replace("\\", "\\\\").replace("\"", "\\\"") + "\"}");
    }

    /** The file with the MD5 of its name as its marker, which is random: the 16 bytes after the metadata. */
    private static byte[] withFixedMarker(byte[] data, String name, int npairs) throws Exception {
        File file = File.createTempFile("avro", ".seq");
        Files.write(file.toPath(), data);
        byte[] marker = MessageDigest.getInstance("MD5").digest(name.getBytes(StandardCharsets.UTF_8));
        int end;
        try (SequenceFile.Reader reader = new SequenceFile.Reader(CONF,
                SequenceFile.Reader.file(new Path(file.toURI())))) {
            end = (int) reader.getPosition(); // of the header
        }
        byte[] found = Arrays.copyOfRange(data, end - 16, end);
        for (int i = 0; i + 16 <= data.length; i++) {
            if (Arrays.equals(found, Arrays.copyOfRange(data, i, i + 16))) {
                System.arraycopy(marker, 0, data, i, 16);
            }
        }
        return data;
    }

    public static void main(String[] args) throws Exception {
        CONF.set("io.serializations", "org.apache.hadoop.io.serializer.WritableSerialization,"
                + "org.apache.avro.hadoop.io.AvroSerialization");
        Schema text = schema("'string'");
        Schema scalars = schema(SCALARS);
        Schema parts = schema(PARTS);
        Schema colour = scalars.getField("e").schema();
        Schema two = scalars.getField("x").schema();
        Object[][] rows = {
            {"first", record(scalars, null, true, 5, 1L << 40, 1.5f, -0.1, ByteBuffer.wrap(new byte[] {0, -1}),
                    "\u00e9", new GenericData.EnumSymbol(colour, "GREEN"),
                    new GenericData.Fixed(two, new byte[] {1, 2}),
                    new GenericData.Fixed(two, new byte[] {3, 4}), null)},
            {"second", record(scalars, null, false, Integer.MIN_VALUE, Long.MIN_VALUE, Float.NaN,
                    Double.NEGATIVE_INFINITY, ByteBuffer.wrap(new byte[0]), "",
                    new GenericData.EnumSymbol(colour, "RED"), new GenericData.Fixed(two, new byte[2]),
                    new GenericData.Fixed(two, new byte[2]), new GenericData.EnumSymbol(colour, "RED"))},
        };
        String expected = "[('first', {'n': None, 'b': True, 'i': 5, 'l': 2**40, 'f': 1.5, 'd': -0.1,"
                + " 'data': b'\\x00\\xff', 's': '\\xe9', 'e': 'GREEN', 'x': b'\\x01\\x02', 'again': b'\\x03\\x04',"
                + " 'maybe': None}), ('second', {'n': None, 'b': False, 'i': -2**31, 'l': -2**63, 'f': nan, 'd': -inf,"
                + " 'data': b'', 's': '', 'e': 'RED', 'x': bytes(2), 'again': bytes(2), 'maybe': 'RED'})]";
        file("scalars", text, scalars, CompressionType.NONE, rows, expected);
        file("scalars by blocks", text, scalars, CompressionType.BLOCK, rows, expected);

        Map<String, Long> counts = new LinkedHashMap<>();
        counts.put("a", 1L);
        counts.put("b", -2L);
        ByteBuffer price = ByteBuffer.wrap(new byte[] {(byte) 0xff, 0x38}); // -200
        GenericData.Record last = record(parts, List.of(), Map.of(), null, null, 20574, -1L, price.duplicate());
        file("parts", null, parts, CompressionType.NONE, new Object[][] {
            {new Text("k"), record(parts, List.of(1, -64, 64, 1 << 30), counts, "text", last, 0, 0L,
                    price.duplicate())},
            {new Text("l"), record(parts, List.of(7), Map.of(), 1L << 33, null, -1, 1L << 50, price.duplicate())},
            {new Text("m"), record(parts, List.of(), Map.of(), 0.5, null, 0, 0L, price.duplicate())},
            {new Text("n"), record(parts, List.of(), Map.of(), List.of("x", "y"), null, 0, 0L, price.duplicate())},
        }, "[('k', {'ints': [1, -64, 64, 2**30], 'counts': {'a': 1, 'b': -2}, 'any': 'text', 'next': {'ints': [],"
                + " 'counts': {}, 'any': None, 'next': None, 'day': 20574, 'at': -1, 'price': '-2.00'}, 'day': 0,"
                + " 'at': 0, 'price': '-2.00'}), ('l', {'ints': [7], 'counts': {}, 'any': 2**33, 'next': None,"
                + " 'day': -1, 'at': 2**50, 'price': '-2.00'}), ('m', {'ints': [], 'counts': {}, 'any': 0.5,"
                + " 'next': None, 'day': 0, 'at': 0, 'price': '-2.00'}), ('n', {'ints': [], 'counts': {},"
                + " 'any': ['x', 'y'], 'next': None, 'day': 0, 'at': 0, 'price': '-2.00'})]");
        file("keys", schema("'long'"), null, CompressionType.RECORD,
                new Object[][] {{-5L, new Text("a")}, {1L << 62, new Text("b")}}, "[(-5, 'a'), (2**62, 'b')]");
        OUT.flush();
    }
}
