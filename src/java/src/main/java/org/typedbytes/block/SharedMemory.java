package org.typedbytes.block;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The receiving end of bodies in shared memory: a Python process offers the memory by a message ({@link #isOffer}), and
 * then sends another for each body ({@link #isBody}). Memory whose pages the other side could remove is refused: native
 * code that reads a removed page, such as that of {@code CRC32}, ends the virtual machine.
 *
 * <pre>{@code
 * SharedMemory memory = new SharedMemory(offer);
 * writer.write(memory.accepted());
 * ByteBuffer body = memory.body(message);   // a view, valid until the answer
 * writer.write(memory.free(message));
 * }</pre>
 */
public final class SharedMemory {
    private static final int MARK_SIZE = 16;
    private static final Command BODY = new Command("body");
    private static final Command SHARE = new Command("share");

    private static final Pattern PATH = Pattern.compile("/proc/[0-9]{1,10}/fd/[0-9]{1,10}");
    private static final String MEMORY = "/memfd:typedbytes";

    private final MappedByteBuffer memory;

    /** Whether a message offers shared memory. */
    public static boolean isOffer(Message message) {
        List<Object> values = message.values;
        return values.size() == 3 && SHARE.equals(values.get(0)) && values.get(1) instanceof String
            && values.get(2) instanceof Number;
    }

    /** Whether a message describes a body. */
    public static boolean isBody(Message message) {
        List<Object> values = message.values;
        return values.size() >= 4 && BODY.equals(values.get(0))
            && values.subList(1, 4).stream().allMatch(value -> value instanceof Integer || value instanceof Long);
    }

    /**
     * Maps the memory that a message offers, to be read only.
     *
     * @throws BlockException for memory that the other side could remove, or that this process cannot open
     */
    public SharedMemory(Message offer) throws IOException {
        if (!isOffer(offer)) {
            throw new BlockException("not an offer of shared memory", 0, -1);
        }
        memory = map((String) offer.values.get(1), ((Number) offer.values.get(2)).longValue(), false);
    }

    /**
     * Maps memory that the other side could not remove: to be read, or, where it is lent, to be written to.
     *
     * The file at a path of another process may change at any time, so all checks use a descriptor of this process.
     * Synchronized: this process then has only one descriptor of a memory at a time.
     */
    static synchronized MappedByteBuffer map(String path, long nbytes, boolean isLent) throws IOException {
        if (!PATH.matcher(path).matches()) {
            throw new BlockException(path + " is not sealed memory, /proc/PID/fd/N", 0, 1);
        }
        if (!Files.isRegularFile(Paths.get(path))) {
            throw new BlockException(path + " is not memory, or cannot be opened: "
                    + "one user has to run both sides", 0, 1);
        }
        // For both: a pipe that has taken the place of the file meanwhile would block a reader.
        try (FileChannel theirs = FileChannel.open(Paths.get(path), StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            if (nbytes < 1 || nbytes > Math.min(theirs.size(), Integer.MAX_VALUE)) {
                throw new BlockException("the shared memory has fewer than " + nbytes + " bytes, or too many", 0, 2);
            }
            Path own = descriptor(Files.getAttribute(Paths.get(path), "unix:ino"));
            if (!Files.getAttribute(own, "unix:uid").equals(Files.getAttribute(Paths.get("/proc/self"), "unix:uid"))) {
                throw new BlockException(path + " is of another user: one user has to run both sides", 0, 1);
            }
            try (FileChannel ours = FileChannel.open(own, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                if (!isRefused(() -> ours.truncate(0))
                        || (!isLent && !isRefused(() -> ours.map(FileChannel.MapMode.READ_WRITE, 0, 1)))) {
                    throw new BlockException(path + " is not sealed: the other side could truncate it", 0, 1);
                }
                return ours.map(isLent ? FileChannel.MapMode.READ_WRITE : FileChannel.MapMode.READ_ONLY, 0, nbytes);
            }
        }
    }

    /**
     * The descriptor in this process of anonymous memory made for bodies, which a truncation or mapping cannot damage.
     */
    private static Path descriptor(Object inode) throws IOException {
        Path folder = Paths.get("/proc/self/fd");
        for (String name : folder.toFile().list()) {
            Path link = folder.resolve(name);
            try {
                if (Files.readSymbolicLink(link).toString().startsWith(MEMORY)) {
                    Map<String, Object> found = Files.readAttributes(link, "unix:ino,nlink");
                    if (inode.equals(found.get("ino")) && found.get("nlink").equals(0)) {
                        return link;
                    }
                }
            } catch (NoSuchFileException error) {
                // Closed in the meantime.
            }
        }
        throw new BlockException("the offered file is not memory for bodies", 0, 1);
    }

    private interface Attempt {
        void run() throws IOException;
    }

    /** Java cannot query seals, so it tries what they forbid; if that succeeds, the memory is not used. */
    private static boolean isRefused(Attempt attempt) throws ClosedChannelException {
        try {
            attempt.run();
            return false;
        } catch (ClosedChannelException error) {    // an interrupt
            throw error;
        } catch (IOException error) {
            return true;
        }
    }

    /** The message that answers the offer. */
    public Message accepted() {
        return new Message(Wire.NATIVE, Arrays.asList((Object) new Command("shared")));
    }

    /** A read-only, little-endian view of the body that a message describes. */
    public ByteBuffer body(Message message) throws BlockException {
        if (!isBody(message)) {
            throw new BlockException("not a message of a body in shared memory", 0, -1);
        }
        long offset = ((Number) message.values.get(1)).longValue();
        long nbytes = ((Number) message.values.get(2)).longValue();
        long epoch = ((Number) message.values.get(3)).longValue();
        if (offset < MARK_SIZE || offset > memory.capacity() || nbytes < 0 || nbytes > memory.capacity() - offset) {
            throw new BlockException(nbytes + " bytes at " + offset + " lie outside the shared memory", 0, 1);
        }
        ByteBuffer view = memory.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        if (view.getLong((int) offset - MARK_SIZE) != epoch || view.getLong((int) offset - MARK_SIZE + 8) != nbytes) {
            throw new BlockException("the shared body is not the one that its message describes", 0, 3);
        }
        view.limit((int) (offset + nbytes));
        view.position((int) offset);
        return view.slice().asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The message that releases a body: its bytes may change from now on. */
    public Message free(Message message) {
        return new Message(Wire.NATIVE, message.id, false, Arrays.asList(new Command("free"), message.values.get(3)));
    }
}
