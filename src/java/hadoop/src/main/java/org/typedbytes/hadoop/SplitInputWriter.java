package org.typedbytes.hadoop;

import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.streaming.PipeMapRed;
import org.apache.hadoop.streaming.io.InputWriter;

import java.io.DataOutput;
import java.io.IOException;

/** Writes pieces to a task as they are. */
public final class SplitInputWriter extends InputWriter<NullWritable, BytesWritable> {
    private DataOutput task;

    @Override
    public void initialize(PipeMapRed owner) throws IOException {
        super.initialize(owner);
        task = owner.getClientOutput();
    }

    @Override
    public void writeKey(NullWritable key) {}

    @Override
    public void writeValue(BytesWritable piece) throws IOException {
        task.write(piece.getBytes(), 0, piece.getLength());
    }
}
