package org.typedbytes.block;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;

/**
 * The receiving end of bodies in shared memory: a Python process offers the memory by a message ({@link #isOffer}), and then
 * tells of each body by another ({@link #isBody}).
 *
 * <pre>{@code
 * SharedMemory memory = new SharedMemory(offer);
 * writer.write(memory.accepted());
 * ByteBuffer body = memory.body(message);   // a view, of use until the answer
 * writer.write(memory.free(message));
 * }</pre>
 */
public final class SharedMemory {
    private static final int MARK_SIZE = 16;
    private static final Command BODY = new Command("body");
    private static final Command SHARE = new Command("share");

    private final MappedByteBuffer memory;

    /** Whether a message offers shared memory. */
    public static boolean isOffer(Message message) {
        List<Object> values = message.values;
        return values.size() == 3 && SHARE.equals(values.get(0)) && values.get(1) instanceof String
            && values.get(2) instanceof Number;
    }

    /** Whether a message tells of a body. */
    public static boolean isBody(Message message) {
        List<Object> values = message.values;
        return values.size() >= 4 && BODY.equals(values.get(0))
            && values.subList(1, 4).stream().allMatch(value -> value instanceof Integer || value instanceof Long);
    }

    /** Maps the memory that a message offers, to be read only. */
    public SharedMemory(Message offer) throws IOException {
        Path path;
        try {
            path = Paths.get((String) offer.values.get(1)).normalize();
        } catch (InvalidPathException error) {
            throw new BlockException("no path", 0, 1);
        }
        long nbytes = ((Number) offer.values.get(2)).longValue();
        if (!Paths.get("/dev/shm").equals(path.getParent()) || !path.getFileName().toString().startsWith("typedbytes-")) {
            throw new BlockException(path + " is no shared memory of ours", 0, 1);
        }
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            if (nbytes < 1 || nbytes > Math.min(file.size(), Integer.MAX_VALUE)) {
                throw new BlockException("the shared memory has not " + nbytes + " bytes, or too many", 0, 2);
            }
            memory = file.map(FileChannel.MapMode.READ_ONLY, 0, nbytes);
        }
    }

    /** The message that answers the offer. */
    public Message accepted() {
        return new Message(Wire.NATIVE, Arrays.asList((Object) new Command("shared")));
    }

    /** A read-only, little-endian view of the body that a message tells of. */
    public ByteBuffer body(Message message) throws BlockException {
        long offset = ((Number) message.values.get(1)).longValue();
        long nbytes = ((Number) message.values.get(2)).longValue();
        long epoch = ((Number) message.values.get(3)).longValue();
        if (offset < MARK_SIZE || offset > memory.capacity() || nbytes < 0 || nbytes > memory.capacity() - offset) {
            throw new BlockException(nbytes + " bytes at " + offset + " lie outside the shared memory", 0, 1);
        }
        ByteBuffer view = memory.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        if (view.getLong((int) offset - MARK_SIZE) != epoch || view.getLong((int) offset - MARK_SIZE + 8) != nbytes) {
            throw new BlockException("the shared body is not the one that its message tells of", 0, 3);
        }
        view.limit((int) (offset + nbytes));
        view.position((int) offset);
        return view.slice().asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The message that gives a body back: its bytes may change from now on. */
    public Message free(Message message) {
        return new Message(Wire.NATIVE, message.id, false, Arrays.asList(new Command("free"), message.values.get(3)));
    }
}
