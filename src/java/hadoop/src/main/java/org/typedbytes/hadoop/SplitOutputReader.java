package org.typedbytes.hadoop;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.streaming.PipeMapRed;
import org.apache.hadoop.streaming.io.OutputReader;
import org.apache.hadoop.streaming.io.TypedBytesOutputReader;

import java.io.IOException;
import java.io.InputStream;

/**
 * Reads a task's output in pieces, whatever it holds: the bytes of a file.
 *
 * <p>A combiner, which Streaming runs in map tasks with the reducer's settings,
 * writes pairs of typed bytes for the sort.
 */
public final class SplitOutputReader extends OutputReader<Writable, Writable> {
    private OutputReader<? extends Writable, ? extends Writable> pieces;

    @Override
    public void initialize(PipeMapRed owner) throws IOException {
        super.initialize(owner);
        Configuration job = owner.getConfiguration();
        boolean combines = job.getBoolean(MRJobConfig.TASK_ISMAP, true) && job.getInt(MRJobConfig.NUM_REDUCES, 1) > 0;
        pieces = combines ? new TypedBytesOutputReader() : new PieceOutput();
        pieces.initialize(owner);
    }

    @Override
    public boolean readKeyValue() throws IOException {
        return pieces.readKeyValue();
    }

    @Override
    public Writable getCurrentKey() throws IOException {
        return pieces.getCurrentKey();
    }

    @Override
    public Writable getCurrentValue() throws IOException {
        return pieces.getCurrentValue();
    }

    @Override
    public String getLastOutput() {
        return pieces.getLastOutput();
    }

    private static final class PieceOutput extends OutputReader<NullWritable, BytesWritable> {
        private static final int PIECE_SIZE = 1 << 20;

        private final BytesWritable piece = new BytesWritable();
        private InputStream task;

        @Override
        public void initialize(PipeMapRed owner) throws IOException {
            super.initialize(owner);
            task = (InputStream) owner.getClientInput(); // a DataInputStream
            piece.setCapacity(PIECE_SIZE);
        }

        @Override
        public boolean readKeyValue() throws IOException {
            int nbytes = task.read(piece.getBytes(), 0, PIECE_SIZE);
            piece.setSize(Math.max(nbytes, 0));
            return nbytes >= 0;
        }

        @Override
        public NullWritable getCurrentKey() {
            return NullWritable.get();
        }

        @Override
        public BytesWritable getCurrentValue() {
            return piece;
        }

        @Override
        public String getLastOutput() {
            return "a piece of " + piece.getLength() + " bytes";
        }
    }
}
