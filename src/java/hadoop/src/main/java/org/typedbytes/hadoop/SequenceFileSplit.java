package org.typedbytes.hadoop;

import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * The part of a SequenceFile that belongs to a split, as a SequenceFile of its own.
 *
 * <p>It reaches from the first sync marker at or after the split's start to the first one at or after its end; where
 * one of these is not after the header, the end of the header takes the marker's place. So the parts of all splits make
 * up the file, however it is cut.
 */
final class SequenceFileSplit {
    private static final byte[] MAGIC = {'S', 'E', 'Q'};
    private static final int MARKER_SIZE = 16;
    private static final int ESCAPE_SIZE = 4; // before a marker, where the length of a record would be
    // before this version, no block was compressed and class names were written in another way
    private static final int OLDEST = 4;
    private static final int NEWEST = 6;
    private static final int WINDOW_SIZE = 1 << 16;

    private final FSDataInputStream file;
    private final Path path;
    private final long size;
    private final byte[] marker = new byte[MARKER_SIZE];
    private long headerEnd;

    private SequenceFileSplit(FSDataInputStream file, Path path, long size) {
        this.file = file;
        this.path = path;
        this.size = size;
    }

    static PieceReader open(FileSplit split, JobConf job) throws IOException {
        Path path = split.getPath();
        FileSystem files = path.getFileSystem(job);
        long size = files.getFileStatus(path).getLen();
        FSDataInputStream file = files.open(path);
        try {
            SequenceFileSplit of = new SequenceFileSplit(file, path, size);
            byte[] header = of.readHeader();
            long start = of.firstRecord(split.getStart());
            long end = of.firstRecord(split.getStart() + split.getLength());
            file.seek(start);
            return new PieceReader(header, (InputStream) file, Math.max(0, end - start), file);
        } catch (IOException | RuntimeException error) {
            file.close();
            throw error;
        }
    }

    /** Returns the names of the classes of the keys and the values of a file. */
    static String[] classesOf(Path path, JobConf job) throws IOException {
        try (FSDataInputStream file = path.getFileSystem(job).open(path)) {
            new SequenceFileSplit(file, path, 0).readVersion();
            return new String[] {Text.readString(file), Text.readString(file)};
        }
    }

    private int readVersion() throws IOException {
        byte[] start = new byte[MAGIC.length + 1];
        file.readFully(start);
        int version = start[MAGIC.length];
        if (!Arrays.equals(Arrays.copyOf(start, MAGIC.length), MAGIC)) {
            throw new IOException(path + " is not a SequenceFile");
        }
        if (version < OLDEST || version > NEWEST) {
            throw new IOException(path + " is a SequenceFile of version " + version
                    + ", which is not had in whole splits: use --feed pairs");
        }
        return version;
    }

    private byte[] readHeader() throws IOException {
        int version = readVersion();
        Text.skip(file);
        Text.skip(file);
        boolean compressed = file.readBoolean();
        file.readBoolean(); // by blocks
        if (compressed && version > OLDEST) Text.skip(file);
        if (version == NEWEST) {
            for (int left = file.readInt(); left > 0; left--) {
                Text.skip(file);
                Text.skip(file);
            }
        }
        file.readFully(marker);
        headerEnd = file.getPos();
        byte[] header = new byte[(int) headerEnd];
        file.seek(0);
        file.readFully(header);
        return header;
    }

    /** Returns where the first record is that belongs to a split at an offset. */
    private long firstRecord(long from) throws IOException {
        return from <= headerEnd ? headerEnd : findMarker(from);
    }

    /**
     * Returns the offset of the first escape and marker at or after an offset; the size of the file if there is none.
     */
    private long findMarker(long from) throws IOException {
        long at = from + ESCAPE_SIZE;
        if (at + MARKER_SIZE > size) return size;
        byte[] window = new byte[WINDOW_SIZE];
        int held = 0;
        file.seek(at);
        while (true) {
            int got = file.read(window, held, window.length - held);
            if (got < 0) return size;
            held += got;
            int last = held - MARKER_SIZE;
            for (int i = 0; i <= last; i++) {
                if (window[i] == marker[0] && isMarker(window, i)) return at + i - ESCAPE_SIZE;
            }
            if (last < 0) continue;
            System.arraycopy(window, last + 1, window, 0, MARKER_SIZE - 1);
            at += last + 1;
            held = MARKER_SIZE - 1;
        }
    }

    private boolean isMarker(byte[] window, int at) {
        for (int i = 0; i < MARKER_SIZE; i++) {
            if (window[at + i] != marker[i]) return false;
        }
        return true;
    }
}
