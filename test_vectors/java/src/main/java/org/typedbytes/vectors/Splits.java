package org.typedbytes.vectors;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.SequenceFileInputFormat;
import org.apache.hadoop.mapred.TextInputFormat;
import org.apache.hadoop.typedbytes.TypedBytesWritableOutput;
import org.typedbytes.hadoop.SplitInputFormat;

/** What a task is given of splits: pair by pair by Hadoop's own input formats, and whole. */
final class Splits {
    private static final JobConf DEFAULTS = new JobConf(); // reading them takes long

    private Splits() {}

    /** A job that reads .zst files too: Hadoop's own codec for them needs native code. */
    private static JobConf job() {
        JobConf job = new JobConf(DEFAULTS);
        job.set("io.compression.codecs", "io.airlift.compress.zstd.ZstdCodec");
        return job;
    }

    /** For each line "start length": the pairs of that split as typed bytes, after the number of their bytes. */
    static void pairs(String format, String path, InputStream in, OutputStream sink) throws IOException {
        JobConf job = job();
        TextInputFormat text = new TextInputFormat();
        text.configure(job);
        InputFormat<?, ?> files = format.equals("text") ? text : new SequenceFileInputFormat<Writable, Writable>();
        DataOutputStream out = new DataOutputStream(sink);
        for (FileSplit split : splits(path, in)) {
            ByteArrayOutputStream pairs = new ByteArrayOutputStream();
            copy(files.getRecordReader(split, job, Reporter.NULL),
                    new TypedBytesWritableOutput(new DataOutputStream(pairs)));
            out.writeInt(pairs.size());
            pairs.writeTo(out);
        }
        out.flush();
    }

    private static <K, V> void copy(RecordReader<K, V> reader, TypedBytesWritableOutput out) throws IOException {
        K key = reader.createKey();
        V value = reader.createValue();
        while (reader.next(key, value)) {
            out.write((Writable) key);
            out.write((Writable) value);
        }
        reader.close();
    }

    /**
     * For each line "start length": what the task is told of the split, two longs, and its bytes after their number.
     */
    static void whole(String format, String path, InputStream in, OutputStream sink) throws IOException {
        DataOutputStream out = new DataOutputStream(sink);
        for (FileSplit split : splits(path, in)) {
            JobConf job = job();
            job.set("typedbytes.split.format", format);
            ByteArrayOutputStream pieces = new ByteArrayOutputStream();
            SplitInputFormat files = new SplitInputFormat();
            RecordReader<?, BytesWritable> reader =
                    copyPieces(files.getRecordReader(split, job, Reporter.NULL), pieces);
            reader.close();
            out.writeLong(job.getLong("typedbytes.split.start", -2));
            out.writeLong(job.getLong("typedbytes.split.length", -2));
            out.writeInt(pieces.size());
            pieces.writeTo(out);
        }
        out.flush();
    }

    private static <K> RecordReader<K, BytesWritable> copyPieces(RecordReader<K, BytesWritable> reader,
            OutputStream out) throws IOException {
        K key = reader.createKey();
        BytesWritable piece = reader.createValue();
        while (reader.next(key, piece)) {
            out.write(piece.getBytes(), 0, piece.getLength());
        }
        return reader;
    }

    /**
     * For a size: "start length" of each split that {@link SplitInputFormat} makes of a file,
     * and that Hadoop's own formats make.
     */
    static void sizes(String format, String path, long size, OutputStream sink) throws IOException {
        JobConf job = job();
        job.set("typedbytes.split.format", format);
        job.setLong("mapreduce.input.fileinputformat.split.maxsize", size);
        FileInputFormat.setInputPaths(job, new Path(new File(path).toURI()));
        TextInputFormat text = new TextInputFormat();
        text.configure(job);
        StringBuilder lines = new StringBuilder();
        for (InputFormat<?, ?> each : new InputFormat<?, ?>[] {new SplitInputFormat(),
                format.equals("text") ? text : new SequenceFileInputFormat<Writable, Writable>()}) {
            for (Object split : each.getSplits(job, (int) (new File(path).length() / size))) {
                lines.append(((FileSplit) split).getStart()).append(' ').append(((FileSplit) split).getLength())
                        .append(',');
            }
            lines.append('\n');
        }
        sink.write(lines.toString().getBytes(StandardCharsets.US_ASCII));
    }

    private static FileSplit[] splits(String path, InputStream in) {
        Path file = new Path(new File(path).toURI());
        return new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII))
                .lines()
                .map(line -> line.split(" "))
                .map(words -> new FileSplit(file, Long.parseLong(words[0]), Long.parseLong(words[1]), new String[0]))
                .toArray(FileSplit[]::new);
    }
}
