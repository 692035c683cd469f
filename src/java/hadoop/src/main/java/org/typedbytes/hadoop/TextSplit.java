package org.typedbytes.hadoop;

import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.compress.CodecPool;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;

/**
 * The part of a text that a task needs to read the lines of a split.
 *
 * <p>A line belongs to the split that holds the byte before it, and the file's first line to the first split. The task
 * finds the first of them itself, as {@code LineRecordReader} does; what is handed out ends with the last.
 */
final class TextSplit {
    private static final int WINDOW_SIZE = 1 << 14;

    private TextSplit() {}

    static PieceReader open(FileSplit split, JobConf job) throws IOException {
        Path path = split.getPath();
        if (new CompressionCodecFactory(job).getCodec(path) != null) return openWhole(split, job);
        FileSystem files = path.getFileSystem(job);
        FSDataInputStream file = files.open(path);
        try {
            long start = split.getStart();
            long end = endOfLine(file, start + split.getLength(), files.getFileStatus(path).getLen());
            file.seek(start);
            tell(job, start, split.getLength());
            return new PieceReader(new byte[0], (InputStream) file, end - start, file);
        } catch (IOException | RuntimeException error) {
            file.close();
            throw error;
        }
    }

    /** Opens a whole file, decompressed if its name says that it is compressed. */
    static PieceReader openWhole(FileSplit split, JobConf job) throws IOException {
        Path path = split.getPath();
        tell(job, 0, -1);
        CompressionCodec codec = new CompressionCodecFactory(job).getCodec(path);
        FSDataInputStream file = path.getFileSystem(job).open(path);
        if (codec == null) return new PieceReader(new byte[0], (InputStream) file, -1, file);
        Decompressor decompressor = CodecPool.getDecompressor(codec);
        Closeable returned = () -> CodecPool.returnDecompressor(decompressor);
        try {
            return new PieceReader(new byte[0], codec.createInputStream(file, decompressor), -1, returned);
        } catch (IOException | RuntimeException error) {
            file.close();
            returned.close();
            throw error;
        }
    }

    private static void tell(JobConf job, long start, long length) {
        job.setLong(SplitInputFormat.START, start);
        job.setLong(SplitInputFormat.LENGTH, length);
    }

    /**
     * Returns where the line ends that an offset is in, after its LF, CR or CR LF;
     * the size of the file if it has no more lines.
     */
    private static long endOfLine(FSDataInputStream file, long from, long size) throws IOException {
        if (from >= size) return size;
        byte[] window = new byte[WINDOW_SIZE];
        boolean afterReturn = false;
        file.seek(from);
        for (long at = from; ; ) {
            int held = file.read(window, 0, window.length);
            if (held < 0) return size;
            for (int i = 0; i < held; i++) {
                if (afterReturn) return window[i] == '\n' ? at + i + 1 : at + i;
                if (window[i] == '\n') return at + i + 1;
                afterReturn = window[i] == '\r';
            }
            at += held;
        }
    }
}
