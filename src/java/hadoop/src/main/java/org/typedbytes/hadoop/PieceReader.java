package org.typedbytes.hadoop;

import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapred.RecordReader;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/** Reads a range of bytes in pieces, after a head: each is a record without a key. */
final class PieceReader implements RecordReader<NullWritable, BytesWritable> {
    private static final int PIECE_SIZE = 1 << 20;

    private final InputStream source;
    private final Closeable closed;
    private final long length;
    private byte[] head;
    private long done;
    private boolean ended;

    /**
     * @param head comes first; of no bytes: nothing
     * @param source positioned at the first byte
     * @param length the number of its bytes; negative: up to its end
     * @param closed closed with the reader, after the source
     */
    PieceReader(byte[] head, InputStream source, long length, Closeable closed) {
        this.head = head;
        this.source = source;
        this.length = length;
        this.closed = closed;
    }

    @Override
    public boolean next(NullWritable key, BytesWritable piece) throws IOException {
        if (head.length > 0) {
            piece.set(head, 0, head.length);
            head = new byte[0];
            return true;
        }
        int wanted = length < 0 ? PIECE_SIZE : (int) Math.min(PIECE_SIZE, length - done);
        if (ended || wanted == 0) return false;
        piece.setCapacity(wanted);
        int nbytes = fill(piece.getBytes(), wanted);
        if (nbytes < wanted && length >= 0) {
            throw new EOFException("the file ends " + (length - done - nbytes) + " bytes before its split");
        }
        ended = nbytes < wanted;
        done += nbytes;
        piece.setSize(nbytes);
        return nbytes > 0;
    }

    private int fill(byte[] target, int wanted) throws IOException {
        int nbytes = 0;
        while (nbytes < wanted) {
            int got = source.read(target, nbytes, wanted - nbytes);
            if (got < 0) break;
            nbytes += got;
        }
        return nbytes;
    }

    @Override
    public NullWritable createKey() {
        return NullWritable.get();
    }

    @Override
    public BytesWritable createValue() {
        return new BytesWritable();
    }

    @Override
    public long getPos() {
        return done;
    }

    @Override
    public float getProgress() {
        if (length < 0) return ended ? 1 : 0;
        return length == 0 ? 1 : (float) done / length;
    }

    @Override
    public void close() throws IOException {
        try {
            source.close();
        } finally {
            closed.close();
        }
    }
}
