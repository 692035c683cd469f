package org.typedbytes.block;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.List;

/**
 * A connection to a Python process whose bytes pass through memory that both map, and wake-ups through the socket:
 * while both sides run, messages pass without a system call. It is a channel for {@link BlockReader} and
 * {@link BlockWriter}; Python offers it, by {@code SharedRing(sock)} or {@code connect}. {@link Server} and
 * {@link Connection} use it by themselves.
 *
 * <pre>{@code
 * Message offer = reader.read();
 * SharedRing ring = SharedRing.accept(channel, reader, writer, offer);
 * if (ring != null) {    // else messages go on over the channel
 *     reader = new BlockReader(ring, Wire.NATIVE);
 *     writer = new BlockWriter(ring);
 * }
 * }</pre>
 *
 * <p>One thread may read while another writes. Nothing that the other side wrote is trusted: a position is loaded
 * once and compared, and bytes are copied before they are looked at. docs/block-format.md describes the memory, and
 * says why no wake-up is lost.
 */
public final class SharedRing implements ByteChannel {
    /** Offers a ring; alone, it asks for an offer. */
    static final Command RING = new Command("ring");
    static final Command REFUSED = new Command("refused");
    private static final Command SEALED = new Command("sealed");
    private static final long MAGIC = 0x01474e4952425401L;
    private static final int CAPACITY = 8;
    private static final int TAIL = 128;
    private static final int HEAD = 256;
    private static final int WAIT = 384;
    private static final int RUNG = 512;
    private static final int DATA = 4096;
    private static final int PART = 16384;
    private static final int POLLS = 32;
    private static final long SPIN_NANOS = 50_000;
    private static final long LONGEST_PAUSE_NANOS = 16_000_000;

    private final SocketChannel socket;
    private final int capacity;
    private final long spinNanos;
    private final ByteBuffer mine;
    private final ByteBuffer theirs;

    /** The state of a direction; its monitor admits one thread at a time. */
    private static final class Direction {
        final ByteBuffer view;
        long position;
        /** The other side's position, when it was last seen. */
        long seen;
        int vain;
        long pauseNanos;
        long pausedUntil;

        Direction(ByteBuffer memory, long spinNanos) {
            view = memory.duplicate();
            pauseNanos = 20 * spinNanos;
            pausedUntil = System.nanoTime();
        }
    }

    private final Direction reading;
    private final Direction writing;
    private long publishedHead;

    // Both directions, under the monitor of `bells`.
    private final ByteBuffer bells = ByteBuffer.allocateDirect(512);
    private final ByteBuffer bell = ByteBuffer.allocateDirect(1);
    private long wait;
    private long rung;
    private long received;
    private boolean isListening;
    private volatile long answered;
    private volatile boolean hasEnded;
    private volatile String fault;

    private SharedRing(SocketChannel socket, ByteBuffer mine, ByteBuffer theirs, int capacity) {
        this.socket = socket;
        this.mine = mine;
        this.theirs = theirs;
        this.capacity = capacity;
        spinNanos = Runtime.getRuntime().availableProcessors() > 1 ? SPIN_NANOS : 0;
        reading = new Direction(theirs, spinNanos);
        writing = new Direction(mine, spinNanos);
    }

    /** Whether a message offers a ring. */
    public static boolean isOffer(Message message) {
        List<Object> values = message.values;
        return values.size() == 4 && RING.equals(values.get(0)) && values.get(1) instanceof String
            && values.get(2) instanceof String && values.get(3) instanceof Integer;
    }

    /**
     * Takes the memories that a message offers, and answers it.
     *
     * @param channel in blocking mode; from here on it is the ring's, unless null is returned
     * @param offer the last message that was read
     * @return null if the memories cannot be used here; the other side was told, and messages go on over the channel
     */
    public static SharedRing accept(SocketChannel channel, BlockReader reader, BlockWriter writer, Message offer)
            throws IOException {
        if (!isOffer(offer)) {
            throw new BlockException("not an offer of a ring", 0, -1);
        }
        int capacity = (Integer) offer.values.get(3);
        SharedRing ring;
        try {
            if (!SharedWords.areSupported()) {
                throw new BlockException("a ring needs Java 9", 0, -1);
            }
            if (capacity < 4096 || capacity > 1 << 30 || Integer.bitCount(capacity) != 1) {
                throw new BlockException("the capacity is a power of two, not " + capacity, 0, 3);
            }
            ByteBuffer theirs = SharedMemory.map((String) offer.values.get(1), DATA + capacity, false);
            ByteBuffer mine = SharedMemory.map((String) offer.values.get(2), DATA + capacity, true);
            ring = new SharedRing(channel, mine, theirs, capacity);
        } catch (ClosedChannelException error) {    // an interrupt
            throw error;
        } catch (IOException error) {
            writer.write(new Message(Wire.NATIVE, Arrays.asList(REFUSED, error.getMessage())));
            return null;
        }
        SharedWords.store(ring.mine, CAPACITY, capacity);
        SharedWords.store(ring.mine, 0, MAGIC);
        writer.write(new Message(Wire.NATIVE, Arrays.asList((Object) new Command("mapped"))));
        Message sealed = reader.read();
        if (sealed == null || sealed.values.size() != 1 || !SEALED.equals(sealed.values.get(0))) {
            throw new BlockException("expected the message that the ring is sealed", 0, -1);
        }
        if (SharedWords.load(ring.theirs, 0) != MAGIC || SharedWords.load(ring.theirs, CAPACITY) != capacity) {
            throw new BlockException("the memory that the other side writes to is not that of a ring", 0, -1);
        }
        return ring;
    }

    // ---- bytes

    /** Reads at least a byte; -1 where the other side has closed and all its bytes have been read. */
    @Override
    public int read(ByteBuffer target) throws IOException {
        synchronized (reading) {
            check();
            if (!target.hasRemaining()) {
                return 0;
            }
            if (!isReadable() && !await(reading, true)) {
                return -1;
            }
            int count = (int) Math.min(target.remaining(), reading.seen - reading.position);
            int at = (int) reading.position & (capacity - 1);
            int first = Math.min(count, capacity - at);
            take(target, at, first);
            if (first < count) {
                take(target, 0, count - first);
            }
            reading.position += count;
            if (reading.position - publishedHead >= capacity / 4) {
                publishHead();
            }
            return count;
        }
    }

    private void take(ByteBuffer target, int at, int count) {
        reading.view.limit(DATA + at + count);
        reading.view.position(DATA + at);
        target.put(reading.view);
    }

    /** Writes all bytes. */
    @Override
    public int write(ByteBuffer source) throws IOException {
        synchronized (writing) {
            int start = source.position();
            int end = source.limit();
            check();
            try {
                while (source.position() < end) {
                    if (hasEnded || (!isWritable() && !await(writing, false))) {
                        throw new IOException("the other side of the ring has closed it");
                    }
                    int space = (int) (capacity - (writing.position - writing.seen));
                    int count = Math.min(Math.min(space, PART), end - source.position());
                    int at = (int) writing.position & (capacity - 1);
                    int first = Math.min(count, capacity - at);
                    put(source, at, first);
                    if (first < count) {
                        put(source, 0, count - first);
                    }
                    writing.position += count;
                    SharedWords.store(mine, TAIL, writing.position);
                    ring();
                }
            } finally {
                source.limit(end);
            }
            return end - start;
        }
    }

    private void put(ByteBuffer source, int at, int count) {
        source.limit(source.position() + count);
        writing.view.position(DATA + at);
        writing.view.put(source);
    }

    private boolean isReadable() throws IOException {
        if (reading.seen != reading.position) {
            return true;
        }
        long tail = SharedWords.load(theirs, TAIL);
        if (Long.compareUnsigned(tail - reading.position, capacity) > 0) {    // too many, or fewer than before
            throw broken("the other side of the ring says that it has written bytes that cannot be there");
        }
        reading.seen = tail;
        return tail != reading.position;
    }

    private boolean isWritable() throws IOException {
        long position = writing.position;
        if (position - writing.seen < capacity) {
            return true;
        }
        long head = SharedWords.load(theirs, HEAD);
        if (Long.compareUnsigned(head - writing.seen, position - writing.seen) > 0) {
            throw broken("the other side of the ring says that it has read bytes that were not written");
        }
        writing.seen = head;
        return position - head < capacity;
    }

    private boolean isReady(boolean forData) throws IOException {
        return forData ? isReadable() : isWritable();
    }

    private IOException broken(String message) throws IOException {
        fault = message;
        socket.close();
        return new BlockException(message, reading.position, -1);
    }

    private void check() throws IOException {
        if (fault != null) {
            throw new BlockException(fault, reading.position, -1);
        }
        if (!socket.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    private void publishHead() {
        publishedHead = reading.position;
        SharedWords.store(mine, HEAD, publishedHead);
        ring();
    }

    // ---- bells and waiting

    /** After a position was published: rings, unless the other side is awake or was rung for its sleep. */
    private void ring() {
        SharedWords.fence();
        long theirWait = SharedWords.load(theirs, WAIT);
        if ((theirWait & 1) == 0 || theirWait - answered <= 0) {
            return;
        }
        synchronized (bells) {
            if (theirWait - answered > 0) {    // else another thread has rung for it, or for a later sleep
                answered = theirWait;
                bell.clear();
                try {
                    socket.write(bell);
                    SharedWords.store(mine, RUNG, ++rung);
                } catch (IOException error) {    // what is waited for next says so
                    hasEnded = true;
                }
            }
        }
    }

    /** Returns false when the other side has closed. */
    private boolean await(Direction direction, boolean forData) throws IOException {
        if (spinNanos > 0) {
            long start = System.nanoTime();
            if (start - direction.pausedUntil >= 0) {
                if (spin(forData, start + spinNanos)) {
                    direction.vain = 0;
                    direction.pauseNanos = 20 * spinNanos;
                    return true;
                }
                if (++direction.vain > 2) {    // vain spinning takes a twentieth of the time, at most
                    direction.pausedUntil = System.nanoTime() + direction.pauseNanos;
                    direction.pauseNanos = Math.min(2 * direction.pauseNanos, LONGEST_PAUSE_NANOS);
                }
            }
        }
        while (true) {
            sleep(forData);
            boolean isLast = hasEnded;    // before a last look: what was written earlier is read
            if (isReady(forData)) {
                return true;
            }
            check();
            if (isLast) {
                return false;
            }
        }
    }

    private boolean spin(boolean forData, long until) throws IOException {
        do {
            for (int i = 0; i < POLLS; i++) {
                if (isReady(forData)) {
                    return true;
                }
                SharedWords.pause();
            }
        } while (System.nanoTime() - until < 0 && !hasEnded);
        return false;
    }

    /** Sleeps once, until something may have changed. One thread listens to the socket, and another waits for it. */
    private void sleep(boolean forData) throws IOException {
        if (forData && publishedHead != reading.position) {
            publishHead();
        }
        synchronized (bells) {
            if (isListening) {
                SharedWords.fence();
                if (!isReady(forData) && !hasEnded) {
                    try {
                        bells.wait(50);
                    } catch (InterruptedException error) {
                        Thread.currentThread().interrupt();
                        socket.close();    // as any channel when a thread that waits for it is interrupted
                        throw new java.nio.channels.ClosedByInterruptException();
                    }
                }
                return;
            }
            isListening = true;
            SharedWords.store(mine, WAIT, ++wait);
        }
        int count = 0;
        try {
            SharedWords.fence();
            if (!isReady(forData) && !hasEnded) {
                count = listen();
            }
        } finally {
            synchronized (bells) {
                received += Math.max(count, 0);
                hasEnded |= count < 0;
                // One for each odd value, at most.
                boolean isFalse = Long.compareUnsigned(received, (wait + 1) / 2) > 0;
                SharedWords.store(mine, WAIT, ++wait);
                isListening = false;
                bells.notifyAll();
                if (isFalse) {
                    throw broken("the other side of the ring wakes this one although it does not sleep");
                }
            }
        }
    }

    /** Bells that are left of an earlier sleep, which ended without them, are read together with the next. */
    private int listen() throws IOException {
        try {
            bells.clear();
            return socket.read(bells);
        } catch (ClosedChannelException error) {
            throw error;
        } catch (IOException error) {    // the connection was reset
            return -1;
        }
    }

    @Override
    public boolean isOpen() {
        return socket.isOpen();
    }

    /** Ends the connection: the other side reads what was written, and then the end. */
    @Override
    public void close() throws IOException {
        socket.close();
    }
}
