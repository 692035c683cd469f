package org.typedbytes.block;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * Answers messages, for tests and benchmarks.
 *
 * <pre>
 * Peer MODE WIRE [tcp | unix:PATH | pipe]
 * </pre>
 *
 * <p>ack answers each message with one zero byte; echo sends it back; checksum answers with the CRC-32 of its
 * values and their number; collect makes Java objects of all values and answers with the number of leaves and the
 * names of the classes; copy sends back the bytes of a ring as they are. In every mode, a ring is accepted, and so
 * is shared memory, whose bodies are checked and released. tcp (the default) prints its port; connections are
 * served one after the other until standard input ends. pipe serves standard input and output, once.
 */
public final class Peer {
    private final String mode;
    private final Wire wire;

    private Peer(String mode, Wire wire) {
        if (!Arrays.asList("ack", "echo", "checksum", "collect", "copy").contains(mode)) {
            throw new IllegalArgumentException("mode must be ack, echo, checksum, collect or copy, not " + mode);
        }
        this.mode = mode;
        this.wire = wire;
    }

    public static void main(String[] arguments) throws Exception {
        Peer peer = new Peer(arguments[0], Wire.valueOf(arguments[1].toUpperCase(Locale.ROOT)));
        String where = arguments.length > 2 ? arguments[2] : "tcp";
        if (where.equals("pipe")) {
            FileOutputStream out = new FileOutputStream(FileDescriptor.out);
            peer.serve(new FileInputStream(FileDescriptor.in).getChannel(), out.getChannel());
            return;
        }
        SocketAddress address = where.equals("tcp") ? new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)
                : Sockets.unixAddress(where.substring("unix:".length()));
        try (ServerSocketChannel server = Sockets.listen(address)) {
            SocketAddress found = server.getLocalAddress();
            printAddress(found instanceof InetSocketAddress ? ((InetSocketAddress) found).getPort() : found);
            Thread end = new Thread(Peer::endWithInput);
            end.setDaemon(true);
            end.start();
            while (true) {
                try (SocketChannel channel = server.accept()) {
                    if (where.equals("tcp")) {
                        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    }
                    peer.serve(channel, channel);
                } catch (IOException error) {
                    System.err.println(error);
                }
            }
        }
    }

    private static void printAddress(Object address) {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out));
        out.println(address);
        out.flush();
    }

    private static void endWithInput() {
        try {
            while (System.in.read() >= 0) {
                continue;
            }
        } catch (IOException error) {
            System.err.println(error);
        }
        System.exit(0);
    }

    private void serve(ReadableByteChannel in, WritableByteChannel out) throws IOException {
        BlockReader reader = new BlockReader(in, wire);
        BlockWriter writer = new BlockWriter(out);
        ByteBuffer zero = ByteBuffer.allocateDirect(1);
        SharedMemory memory = null;
        for (Message message = reader.read(); message != null; message = reader.read()) {
            if (in instanceof SocketChannel && SharedRing.isOffer(message)) {
                SharedRing ring = SharedRing.accept((SocketChannel) in, reader, writer, message);
                if (ring != null && mode.equals("copy")) {
                    copy(ring);
                    return;
                } else if (ring != null) {
                    serve(ring, ring);
                    return;
                }
            } else if (memory == null && SharedMemory.isOffer(message)) {
                memory = new SharedMemory(message);
                writer.write(memory.accepted());
            } else if (memory != null && SharedMemory.isBody(message)) {
                check(memory.body(message), message);
                writer.write(memory.free(message));
            } else if (mode.equals("ack")) {
                zero.clear();
                while (zero.hasRemaining()) {
                    out.write(zero);
                }
            } else {
                writer.write(mode.equals("echo") ? message : new Message(message.wire, message.id, false,
                        mode.equals("checksum") ? checksum(message) : collect(message)));
            }
        }
    }

    private static void copy(SharedRing ring) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocateDirect(1 << 16);
        while (ring.read(bytes) >= 0) {
            bytes.flip();
            ring.write(bytes);
            bytes.clear();
        }
    }

    /** Compares the CRC-32 of a body with the one in its message, if there is one. */
    private static void check(ByteBuffer body, Message message) throws IOException {
        if (message.values.size() > 4) {
            CRC32 sum = new CRC32();
            sum.update(body.duplicate());
            Object right = message.values.get(4);
            if (!(right instanceof Number) || sum.getValue() != ((Number) right).longValue()) {
                throw new IOException("the shared body has another CRC-32");
            }
        }
    }

    private static java.util.List<Object> checksum(Message message) {
        CRC32 sum = new CRC32();
        for (Object value : message.values) {
            update(sum, value);
        }
        return Arrays.asList((Object) sum.getValue(), message.values.size());
    }

    private static void update(CRC32 sum, Object value) {
        byte[] data;
        if (value instanceof byte[]) {
            data = (byte[]) value;
        } else if (value instanceof Number || value instanceof Boolean) {
            long bits;
            if (value instanceof Float || value instanceof Double) {
                bits = Double.doubleToRawLongBits(value instanceof Float ? Types.widen((Float) value) : (Double) value);
            } else {
                bits = value instanceof Boolean ? ((Boolean) value ? 1 : 0) : ((Number) value).longValue();
            }
            data = ByteBuffer.allocate(8).putLong(bits).array();
        } else if (value instanceof Nested) {
            data = ((Nested) value).encoded();
        } else if (value instanceof ArrowStream) {
            data = ((ArrowStream) value).data;
        } else if (value instanceof ArrayValue) {
            data = new byte[((ArrayValue) value).elements().remaining()];
            ((ArrayValue) value).elements().get(data);
        } else {
            data = Nested.Utf8.encode(String.valueOf(value));
        }
        sum.update(data, 0, data.length);
    }

    private static java.util.List<Object> collect(Message message) throws IOException {
        long leaves = 0;
        StringBuilder names = new StringBuilder();
        for (Object value : message.values) {
            Object made = value instanceof Nested ? ((Nested) value).toJava() : value;
            leaves += leaves(made);
            names.append(names.length() == 0 ? "" : " ")
                    .append(made == null ? "null" : made.getClass().getSimpleName());
        }
        return Arrays.asList((Object) leaves, names.toString());
    }

    private static long leaves(Object value) {
        long count = 0;
        if (value instanceof Collection) {
            for (Object item : (Collection<?>) value) {
                count += leaves(item);
            }
            return count;
        }
        if (value instanceof Map) {
            for (Map.Entry<?, ?> pair : ((Map<?, ?>) value).entrySet()) {
                count += leaves(pair.getKey()) + leaves(pair.getValue());
            }
            return count;
        }
        return 1;
    }
}
