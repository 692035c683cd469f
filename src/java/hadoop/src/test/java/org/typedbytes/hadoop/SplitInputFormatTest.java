package org.typedbytes.hadoop;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BloomMapFile;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.MapFile;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.streaming.io.TypedBytesInputWriter;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Every record is in one split, wherever a file is cut, and what a split gives is a file by itself. */
public class SplitInputFormatTest {
    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    private static final JobConf DEFAULTS = new JobConf(); // copied, since reading them takes longer than a split

    private static JobConf job(String format) {
        JobConf job = new JobConf(DEFAULTS);
        job.set("typedbytes.split.format", format);
        return job;
    }

    private static byte[] piecesOf(JobConf job, Path file, long start, long length) throws IOException {
        FileSplit split = new FileSplit(file, start, length, new String[0]);
        ByteArrayOutputStream pieces = new ByteArrayOutputStream();
        RecordReader<NullWritable, BytesWritable> reader =
                new SplitInputFormat().getRecordReader(split, job, Reporter.NULL);
        BytesWritable piece = reader.createValue();
        while (reader.next(reader.createKey(), piece)) pieces.write(piece.getBytes(), 0, piece.getLength());
        assertEquals(1, reader.getProgress(), 0);
        reader.close();
        return pieces.toByteArray();
    }

    private File numbers(int count, SequenceFile.CompressionType compression) throws IOException {
        File file = folder.newFile();
        try (SequenceFile.Writer writer = SequenceFile.createWriter(
                DEFAULTS, SequenceFile.Writer.file(new Path(file.toURI())),
                SequenceFile.Writer.keyClass(IntWritable.class),
                SequenceFile.Writer.valueClass(Text.class), SequenceFile.Writer.compression(compression),
                SequenceFile.Writer.syncInterval(100))) {
            for (int i = 0; i < count; i++) {
                writer.append(new IntWritable(i), new Text("text " + i));
                if (i % 50 == 0) writer.sync();
            }
        }
        return file;
    }

    private List<Integer> keysOf(byte[] whole) throws IOException {
        File file = folder.newFile();
        Files.write(file.toPath(), whole);
        List<Integer> keys = new ArrayList<>();
        try (SequenceFile.Reader reader = new SequenceFile.Reader(DEFAULTS,
                SequenceFile.Reader.file(new Path(file.toURI())))) {
            IntWritable key = new IntWritable();
            while (reader.next(key)) keys.add(key.get());
        }
        return keys;
    }

    private void checkNumbers(SequenceFile.CompressionType compression) throws IOException {
        File file = numbers(300, compression);
        for (int step : new int[] {7, 100, 101, 999, 100_000}) {
            List<Integer> keys = new ArrayList<>();
            for (long start = 0; start < file.length(); start += step) {
                keys.addAll(keysOf(piecesOf(job("sequencefile"), new Path(file.toURI()), start,
                        Math.min(step, file.length() - start))));
            }
            for (int i = 0; i < 300; i++) assertEquals(i, (int) keys.get(i));
            assertEquals(300, keys.size());
        }
    }

    @Test
    public void everyRecordOfASequenceFileIsInOneSplit() throws IOException {
        checkNumbers(SequenceFile.CompressionType.NONE);
    }

    @Test
    public void everyRecordOfCompressedBlocksIsInOneSplit() throws IOException {
        checkNumbers(SequenceFile.CompressionType.BLOCK);
    }

    @Test
    public void aSplitOfTextReachesToTheEndOfItsLastLine() throws IOException {
        File file = folder.newFile("in.txt");
        Files.write(file.toPath(), "one\r\ntwo\rthree\nfour".getBytes(StandardCharsets.US_ASCII));
        Path path = new Path(file.toURI());
        String[] expected = {"one\r\n", "one\r\n", "one\r\n", "one\r\n", "one\r\n", "one\r\ntwo\r", "one\r\ntwo\r",
                "one\r\ntwo\r", "one\r\ntwo\r"};
        for (int end = 0; end < expected.length; end++) {
            JobConf job = job("text");
            assertEquals(expected[end], new String(piecesOf(job, path, 0, end), StandardCharsets.US_ASCII));
            assertEquals("0 " + end, job.get("typedbytes.split.start") + " " + job.get("typedbytes.split.length"));
        }
        assertEquals("hree\nfour", new String(piecesOf(job("text"), path, 10, 9), StandardCharsets.US_ASCII));
    }

    @Test
    public void aFileOfTypedBytesIsOneSplit() throws IOException {
        File file = folder.newFile("in.tb");
        byte[] data = new byte[3_000_000];
        Arrays.fill(data, (byte) 7);
        Files.write(file.toPath(), data);
        JobConf job = job("typedbytes");
        job.set("mapreduce.input.fileinputformat.split.maxsize", "1000");
        FileInputFormat.setInputPaths(job, new Path(file.toURI()));
        InputSplit[] splits = new SplitInputFormat().getSplits(job, 1000);
        assertEquals(1, splits.length);
        assertArrayEquals(data, piecesOf(job, new Path(file.toURI()), 0, data.length));
    }

    @Test
    public void ofAMapFileTheDataIsRead() throws IOException {
        File parts = folder.newFolder();
        File one = new File(parts, "part-r-00000");
        try (BloomMapFile.Writer writer = new BloomMapFile.Writer(
                DEFAULTS, new Path(one.toURI()), MapFile.Writer.keyClass(Text.class),
                MapFile.Writer.valueClass(IntWritable.class))) {
            writer.append(new Text("key"), new IntWritable(1));
        }
        List<String> data = Arrays.asList("data");
        assertEquals(data, inputsOf(parts));
        assertEquals(data, inputsOf(one));
        assertEquals(Arrays.asList("data", "data"), inputsOf(one, new File(one, "data")));
        assertEquals(Arrays.asList("index"), inputsOf(new File(one, "index")));
        Files.delete(new File(one, ".index.crc").toPath());
        Files.copy(numbers(1, SequenceFile.CompressionType.NONE).toPath(), new File(one, "index").toPath(),
                StandardCopyOption.REPLACE_EXISTING);
        assertEquals(Arrays.asList("bloom", "data", "index"), inputsOf(one)); // an index of other classes
    }

    private static List<String> inputsOf(File... paths) throws IOException {
        JobConf job = job("sequencefile");
        for (File path : paths) FileInputFormat.addInputPath(job, new Path(path.toURI()));
        List<String> names = new ArrayList<>();
        for (FileStatus each : new SplitInputFormat().listStatus(job)) names.add(each.getPath().getName());
        Collections.sort(names);
        return names;
    }

    @Test
    public void whatItCannotTakeIsRefused() throws IOException {
        File file = folder.newFile("in.txt");
        Files.write(file.toPath(), "text that is not a SequenceFile".getBytes(StandardCharsets.US_ASCII));
        Path path = new Path(file.toURI());
        assertTrue(assertThrows(IOException.class, () -> piecesOf(job("sequencefile"), path, 0, 5)).getMessage()
                .contains("is not a SequenceFile"));
        assertTrue(assertThrows(IOException.class, () -> piecesOf(job("orc"), path, 0, 5)).getMessage()
                .contains("must be one of"));
        JobConf job = job("text");
        job.set("textinputformat.record.delimiter", ";");
        assertTrue(assertThrows(IOException.class, () -> new SplitInputFormat().getSplits(job, 1)).getMessage()
                .contains("--feed pairs"));
        Files.write(file.toPath(), new byte[] {'S', 'E', 'Q', 3, 0, 0});
        assertTrue(assertThrows(IOException.class, () -> piecesOf(job("sequencefile"), path, 0, 5)).getMessage()
                .contains("version 3"));
    }

    @Test
    public void otherNamesOfFormatsAreHadoops() {
        SplitIdentifierResolver resolver = new SplitIdentifierResolver();
        resolver.resolve("typedbytes");
        assertEquals(TypedBytesInputWriter.class, resolver.getInputWriterClass());
        resolver.resolve("split");
        assertEquals(SplitInputWriter.class, resolver.getInputWriterClass());
        assertEquals(SplitOutputReader.class, resolver.getOutputReaderClass());
        assertFalse(resolver.getOutputKeyClass() == Text.class);
    }
}
