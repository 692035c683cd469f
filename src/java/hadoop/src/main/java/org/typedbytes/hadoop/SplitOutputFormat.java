package org.typedbytes.hadoop;

import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordWriter;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.typedbytes.TypedBytesWritable;
import org.apache.hadoop.util.Progressable;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Writes the pieces of a task's output to its part file, one after the other:
 * they are a SequenceFile that the task makes.
 *
 * <p>Where the file is, and when it counts, is decided by Hadoop's committer.
 * Its compression is the job's; the task knows it too.
 */
public final class SplitOutputFormat extends FileOutputFormat<NullWritable, BytesWritable> {
    @Override
    public RecordWriter<NullWritable, BytesWritable> getRecordWriter(FileSystem ignored, JobConf job, String name,
            Progressable progress)
            throws IOException {
        Path file = getTaskOutputPath(job, name);
        OutputStream part = file.getFileSystem(job).create(file, progress);
        return new RecordWriter<NullWritable, BytesWritable>() {
            private boolean empty = true;

            @Override
            public void write(NullWritable key, BytesWritable piece) throws IOException {
                part.write(piece.getBytes(), 0, piece.getLength());
                empty = empty && piece.getLength() == 0;
            }

            @Override
            public void close(Reporter reporter) throws IOException {
                part.close();
                if (empty) writeEmpty(file, job);
            }
        };
    }

    /** Streaming does not read the output of a reducer that has no input. */
    private static void writeEmpty(Path file, JobConf job) throws IOException {
        SequenceFile.createWriter(
            job, SequenceFile.Writer.file(file), SequenceFile.Writer.keyClass(TypedBytesWritable.class),
            SequenceFile.Writer.valueClass(TypedBytesWritable.class)).close();
    }
}
