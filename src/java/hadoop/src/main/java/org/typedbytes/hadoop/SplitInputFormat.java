package org.typedbytes.hadoop;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BloomMapFile;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.MapFile;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * Hands out the bytes of a split, in pieces, instead of its records: the task takes them apart itself.
 *
 * <p>The pieces of a split make up a file of the same format: of a SequenceFile its header, and the records from one
 * sync marker to another; of text the lines. Files and splits are those of {@code SequenceFileInputFormat} and {@code
 * TextInputFormat}, and so is the split that a record belongs to, but the index of a MapFile that is itself an input is
 * no input. Compressed text is decompressed by its codec, and a file of typed bytes is one split.
 */
public final class SplitInputFormat extends FileInputFormat<NullWritable, BytesWritable> {
    /** Where the first byte of a text's pieces is in its file: the task gives each line its offset. */
    static final String START = "typedbytes.split.start";

    /** How many bytes from there on belong to the split, and then the rest of a line; -1: all that come. */
    static final String LENGTH = "typedbytes.split.length";

    /** Options of {@code TextInputFormat} that the task does not know. */
    private static final String[] UNKNOWN_TO_TASKS =
            {"textinputformat.record.delimiter", "mapreduce.input.linerecordreader.line.maxlength"};

    @Override
    public InputSplit[] getSplits(JobConf job, int wanted) throws IOException {
        SplitFormat format = SplitFormat.of(job);
        if (format == SplitFormat.SEQUENCEFILE) setMinSplitSize(SequenceFile.SYNC_INTERVAL);
        if (format == SplitFormat.TEXT) {
            for (String name : UNKNOWN_TO_TASKS) {
                if (job.get(name) != null) {
                    throw new IOException("whole splits of text cannot be had with " + name + ": use --feed pairs");
                }
            }
        }
        this.format = format;
        this.codecs = new CompressionCodecFactory(job);
        return super.getSplits(job, wanted);
    }

    private SplitFormat format;
    private CompressionCodecFactory codecs;

    @Override
    protected boolean isSplitable(FileSystem files, Path file) {
        return format == SplitFormat.SEQUENCEFILE || format == SplitFormat.TEXT && codecs.getCodec(file) == null;
    }

    @Override
    protected FileStatus[] listStatus(JobConf job) throws IOException {
        FileStatus[] found = super.listStatus(job);
        if (SplitFormat.of(job) != SplitFormat.SEQUENCEFILE) return found;
        Set<Path> paths = new HashSet<>();
        for (int i = 0; i < found.length; i++) {
            if (found[i].isDirectory()) {
                Path data = new Path(found[i].getPath(), MapFile.DATA_FILE_NAME);
                found[i] = data.getFileSystem(job).getFileStatus(data);
            }
            paths.add(found[i].getPath());
        }
        Set<Path> leftOut = new HashSet<>();
        for (Path data : paths) {
            Path index = new Path(data.getParent(), MapFile.INDEX_FILE_NAME);
            if (!data.getName().equals(MapFile.DATA_FILE_NAME) || !paths.contains(index)
                    || !isIndex(index, data, job)) continue;
            leftOut.add(index);
            leftOut.add(new Path(data.getParent(), BloomMapFile.BLOOM_FILE_NAME));
        }
        return Arrays.stream(found).filter(each -> !leftOut.contains(each.getPath())).toArray(FileStatus[]::new);
    }

    /** Returns whether a file is the index of a MapFile: from keys of the class of its data to offsets. */
    private static boolean isIndex(Path index, Path data, JobConf job) throws IOException {
        String[] classes = SequenceFileSplit.classesOf(index, job);
        return classes[1].equals(LongWritable.class.getName())
                && classes[0].equals(SequenceFileSplit.classesOf(data, job)[0]);
    }

    @Override
    public RecordReader<NullWritable, BytesWritable> getRecordReader(InputSplit split, JobConf job,
            Reporter reporter) throws IOException {
        reporter.setStatus(split.toString());
        FileSplit of = (FileSplit) split;
        switch (SplitFormat.of(job)) {
            case SEQUENCEFILE: return SequenceFileSplit.open(of, job);
            case TEXT: return TextSplit.open(of, job);
            default: return TextSplit.openWhole(of, job);
        }
    }
}
