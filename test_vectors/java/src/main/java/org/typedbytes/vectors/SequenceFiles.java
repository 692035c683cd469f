package org.typedbytes.vectors;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BloomMapFile;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.MapFile;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.SequenceFile.CompressionType;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.SequenceFileRecordReader;
import org.apache.hadoop.typedbytes.TypedBytesWritable;
import org.apache.hadoop.util.ReflectionUtils;

/** Hadoop's own SequenceFiles: written in every form there is, and read with its own reader. */
final class SequenceFiles {
    /** Stands in data for the sync marker of the file, which is not known before it is written. */
    private static final byte[] PLACEHOLDER = "MARKERMARKERMARK".getBytes(StandardCharsets.US_ASCII);

    private static final Map<String, String> CODECS = new LinkedHashMap<>();

    static {
        String hadoop = "org.apache.hadoop.io.compress.";
        CODECS.put("default", hadoop + "DefaultCodec");
        CODECS.put("gzip", hadoop + "GzipCodec");
        CODECS.put("bzip2", hadoop + "BZip2Codec");
        CODECS.put("snappy", hadoop + "SnappyCodec");
        CODECS.put("lz4", hadoop + "Lz4Codec");
        CODECS.put("zstd", "io.airlift.compress.zstd.ZstdCodec");
        CODECS.put("lzo", "io.airlift.compress.lzo.LzoCodec");
    }

    private static final Configuration DEFAULTS = new Configuration(); // reading them takes long

    private SequenceFiles() {}


    /** The records of each kind, a JSON line each. */
    static void printRecords(PrintStream out) throws IOException {
        for (Map.Entry<String, List<Writable[]>> kind : Kinds.all().entrySet()) {
            List<String> records = new ArrayList<>();
            for (Writable[] pair : kind.getValue()) {
                records.add(record(pair[0], pair[1]));
            }
            Writable[] first = kind.getValue().get(0);
            out.println(Json.object(
                    "kind", Json.quote(kind.getKey()),
                    "keyClass", Json.quote(first[0].getClass().getName()),
                    "valueClass", Json.quote(first[1].getClass().getName()),
                    "records", Json.array(records)));
        }
    }

    /**
     * Every kind in every form, a JSON line a file; the sync marker is made from the name,
     * so that it is the same each time.
     */
    static void printFiles(PrintStream out) throws Exception {
        for (Map.Entry<String, List<Writable[]>> kind : Kinds.all().entrySet()) {
            printFile(out, "none", CompressionType.NONE, null, kind.getKey(), kind.getValue());
            for (String codec : CODECS.keySet()) {
                for (CompressionType compression : Arrays.asList(CompressionType.RECORD, CompressionType.BLOCK)) {
                    printFile(out, codec, compression, codec, kind.getKey(), kind.getValue());
                }
            }
        }
        printSpecial(out);
    }

    private static void printFile(
            PrintStream out, String prefix, CompressionType compression, String codec, String kind,
            List<Writable[]> records)
            throws Exception {
        String form = codec == null ? "none" : codec + "-" + compression.toString().toLowerCase();
        Writable[] first = records.get(0);
        print(out, form + "/" + kind, kind,
                write(form + kind, compression, codec, 0, Map.of(), first[0], first[1], records));
    }

    /** What stands at the edges: no record, metadata, markers in the data, many markers, chunks within chunks. */
    private static void printSpecial(PrintStream out) throws Exception {
        Text text = new Text();
        IntWritable number = new IntWritable();
        for (CompressionType compression : CompressionType.values()) {
            String codec = compression == CompressionType.NONE ? null : "default";
            String form = compression.toString().toLowerCase();
            print(out, "empty/" + form, "",
                    write("empty" + form, compression, codec, 0, Map.of(), text, number, List.of()));
            print(out, "metadata/" + form, "", write("metadata" + form, compression, codec, 0,
                    Map.of("name", "value", "", "empty name", "\u20ac", ""), text, number, List.of()));
        }
        List<Writable[]> marked = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            byte[] data = new byte[40 + i];
            System.arraycopy(PLACEHOLDER, 0, data, 10 + i, PLACEHOLDER.length);
            marked.add(new Writable[] {new IntWritable(i), new BytesWritable(data)});
        }
        print(out, "marker-in-data/none", "",
                write("marker", CompressionType.NONE, null, 100, Map.of(), number, new BytesWritable(), marked));
    }

    private static void print(PrintStream out, String name, String kind, byte[] data) {
        out.println(Json.object("name", Json.quote(name), "kind", Json.quote(kind), "hex", Json.quote(Hex.of(data))));
    }

    /** Records numbered from 0: keys as text, values of so many bytes, in a file with markers every so often. */
    static void writeNumbered(String path, String compression, String codec, int nrecords, int nbytes, int syncInterval)
            throws Exception {
        List<Writable[]> records = new ArrayList<>();
        for (int i = 0; i < nrecords; i++) {
            byte[] value = new byte[nbytes + i % 7];
            Arrays.fill(value, (byte) (i * 31));
            records.add(new Writable[] {new Text("key " + i), new BytesWritable(value)});
        }
        CompressionType type = CompressionType.valueOf(compression);
        byte[] data = write(path, type, type == CompressionType.NONE ? null : codec, syncInterval, Map.of(), new Text(),
                new BytesWritable(), records);
        Files.write(new File(path).toPath(), data);
    }

    /** A MapFile, or a BloomMapFile, with an index entry every three records. */
    static void writeMapFile(String path, String compression, boolean bloom, int nrecords) throws Exception {
        Configuration conf = configuration();
        conf.setInt("io.map.index.interval", 3);
        CompressionType type = CompressionType.valueOf(compression);
        SequenceFile.Writer.Option[] options = {
            MapFile.Writer.keyClass(Text.class), MapFile.Writer.valueClass(IntWritable.class),
            MapFile.Writer.compression(type)
        };
        try (MapFile.Writer writer = bloom
                ? new BloomMapFile.Writer(conf, new Path(path), options)
                : new MapFile.Writer(conf, new Path(path), options)) {
            for (int i = 0; i < nrecords; i++) {
                writer.append(new Text(String.format("key %05d", 2 * i)), new IntWritable(i));
            }
        }
    }

    private static byte[] write(
            String name, CompressionType compression, String codec, int syncInterval, Map<String, String> metadata,
            Writable key, Writable value, List<Writable[]> records) throws Exception {
        Configuration conf = configuration();
        conf.setInt("io.seqfile.compress.blocksize", syncInterval == 0 ? 1_000_000 : 10 * syncInterval);
        File file = File.createTempFile("typedbytes", ".seq");
        List<SequenceFile.Writer.Option> options = new ArrayList<>(Arrays.asList(
                SequenceFile.Writer.file(new Path(file.toURI())),
                SequenceFile.Writer.keyClass(key.getClass()),
                SequenceFile.Writer.valueClass(value.getClass()),
                SequenceFile.Writer.compression(compression, codec == null ? null : codec(conf, codec)),
                SequenceFile.Writer.metadata(metadata(metadata))));
        if (syncInterval != 0) {
            options.add(SequenceFile.Writer.syncInterval(syncInterval));
        }
        try (SequenceFile.Writer writer =
                SequenceFile.createWriter(conf, options.toArray(new SequenceFile.Writer.Option[0]))) {
            for (Writable[] pair : records) {
                writer.append(pair[0], pair[1]);
            }
        }
        byte[] data = Files.readAllBytes(file.toPath());
        FileUtil.fullyDelete(file);
        new File(file.getParentFile(), "." + file.getName() + ".crc").delete();
        byte[] marker = MessageDigest.getInstance("MD5").digest(name.getBytes(StandardCharsets.UTF_8));
        replace(data, markerOf(data, conf, file.getName()), marker);
        replace(data, PLACEHOLDER, marker);
        return data;
    }

    private static CompressionCodec codec(Configuration conf, String name) throws ClassNotFoundException {
        return (CompressionCodec) ReflectionUtils.newInstance(conf.getClassByName(CODECS.getOrDefault(name, name)),
                conf);
    }

    private static SequenceFile.Metadata metadata(Map<String, String> pairs) {
        TreeMap<Text, Text> texts = new TreeMap<>();
        pairs.forEach((name, value) -> texts.put(new Text(name), new Text(value)));
        return new SequenceFile.Metadata(texts);
    }

    /** The marker stands where the header ends, which the reader tells. */
    private static byte[] markerOf(byte[] data, Configuration conf, String name) throws IOException {
        File file = File.createTempFile("typedbytes", ".seq");
        Files.write(file.toPath(), data);
        try (SequenceFile.Reader reader = new SequenceFile.Reader(conf,
                SequenceFile.Reader.file(new Path(file.toURI())))) {
            int end = (int) reader.getPosition();
            return Arrays.copyOfRange(data, end - 16, end);
        } finally {
            FileUtil.fullyDelete(file);
        }
    }

    private static void replace(byte[] data, byte[] old, byte[] fresh) {
        for (int i = 0; i + old.length <= data.length; i++) {
            if (Arrays.equals(Arrays.copyOfRange(data, i, i + old.length), old)) {
                System.arraycopy(fresh, 0, data, i, fresh.length);
            }
        }
    }

    /** A JSON line for the header, and one a record. */
    static void read(String path, PrintStream out) throws IOException {
        Configuration conf = configuration();
        try (SequenceFile.Reader reader =
                new SequenceFile.Reader(conf, SequenceFile.Reader.file(new Path(new File(path).toURI())))) {
            List<String> metadata = new ArrayList<>();
            reader.getMetadata().getMetadata().forEach((name, value) ->
                    metadata.add("[" + Json.quote(name.toString()) + "," + Json.quote(value.toString()) + "]"));
            CompressionCodec codec = reader.getCompressionCodec();
            out.println(Json.object(
                    "keyClass", Json.quote(reader.getKeyClassName()),
                    "valueClass", Json.quote(reader.getValueClassName()),
                    "compression", Json.quote(reader.getCompressionType().toString().toLowerCase()),
                    "codec", codec == null ? "null" : Json.quote(codec.getClass().getName()),
                    "metadata", Json.array(metadata)));
            Writable key = (Writable) ReflectionUtils.newInstance(reader.getKeyClass(), conf);
            Writable value = (Writable) ReflectionUtils.newInstance(reader.getValueClass(), conf);
            while (reader.next(key, value)) {
                out.println(record(key, value));
            }
        }
    }

    private static String record(Writable key, Writable value) throws IOException {
        return Json.object(
                "key", Kinds.view(key),
                "value", Kinds.view(value),
                "keyHex", Json.quote(Hex.of(Kinds.bytes(key))),
                "valueHex", Json.quote(Hex.of(Kinds.bytes(value))),
                "typedHex", Json.quote(Hex.of(Kinds.typedBytes(key)) + Hex.of(Kinds.typedBytes(value))));
    }

    /** For each line "start length" the keys of the records of that split, as text, with commas between. */
    static void splits(String path, InputStream in, PrintStream out) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII));
        JobConf conf = new JobConf(configuration());
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            FileSplit split = new FileSplit(
                    new Path(new File(path).toURI()), Long.parseLong(words[0]), Long.parseLong(words[1]),
                    new String[0]);
            List<String> keys = new ArrayList<>();
            try (SequenceFileRecordReader<Writable, Writable> reader = new SequenceFileRecordReader<>(conf, split)) {
                Writable key = reader.createKey();
                Writable value = reader.createValue();
                while (reader.next(key, value)) {
                    keys.add(key.toString());
                }
            }
            out.println(String.join(",", keys));
        }
    }

    /**
     * The least CPU time in nanoseconds of many rounds: records as Writables,
     * and as the objects that their typed bytes hold.
     */
    static void time(String path, int nrounds, PrintStream out) throws IOException {
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        long[] least = {Long.MAX_VALUE, Long.MAX_VALUE};
        long nrecords = 0;
        for (int round = 0; round < nrounds; round++) {
            for (int mode = 0; mode < 2; mode++) {
                long start = clock.getCurrentThreadCpuTime();
                nrecords = scan(path, mode == 1);
                least[mode] = Math.min(least[mode], clock.getCurrentThreadCpuTime() - start);
            }
        }
        out.println(Json.object(
                "nrecords", Long.toString(nrecords), "writables", Long.toString(least[0]), "objects",
                Long.toString(least[1])));
    }

    private static long scan(String path, boolean decoded) throws IOException {
        Configuration conf = configuration();
        TypedBytesWritable key = new TypedBytesWritable();
        TypedBytesWritable value = new TypedBytesWritable();
        long nrecords = 0;
        long seen = 0;
        try (SequenceFile.Reader reader =
                new SequenceFile.Reader(conf, SequenceFile.Reader.file(new Path(new File(path).toURI())))) {
            while (reader.next(key, value)) {
                nrecords++;
                if (decoded) {
                    seen += key.getValue().hashCode() ^ value.getValue().hashCode();
                }
            }
        }
        return seen == Long.MIN_VALUE ? -1 : nrecords; // nothing that is decoded may be left out
    }

    private static Configuration configuration() {
        Configuration conf = new Configuration(DEFAULTS);
        conf.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem"); // no checksum files beside ours
        conf.setBoolean("fs.file.impl.disable.cache", true);
        return conf;
    }
}
