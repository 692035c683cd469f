package org.typedbytes.block;

import java.io.Closeable;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Calls functions of another process, such as those of {@code typedbytes.block.serve} in Python: through memory where
 * the server is on this machine and offers a {@link SharedRing}, and otherwise over the socket.
 *
 * <pre>{@code
 * try (Connection connection = Connection.open("/run/me/calls")) {
 *     System.out.println(connection.call("add", 1, 2.5).get(0));
 * }
 * }</pre>
 *
 * <p>Several threads may call; one call at a time is on its way. A thread that is interrupted in a call closes the
 * connection.
 */
public final class Connection implements Closeable {
    private final ByteChannel channel;
    private final BlockReader reader;
    private final BlockWriter writer;
    private long id;

    private Connection(SocketChannel socket) throws IOException {
        BlockReader answers = new BlockReader(socket, Wire.NATIVE);
        BlockWriter requests = new BlockWriter(socket);
        SharedRing ring = null;
        if (Sockets.isUnix(socket.getRemoteAddress()) || isOwn(socket)) {
            requests.write(new Message(Wire.NATIVE, Arrays.asList((Object) SharedRing.RING)));
            Message offer = answers.read();
            if (offer == null) {
                throw ended();
            }
            ring = SharedRing.isOffer(offer) ? SharedRing.accept(socket, answers, requests, offer) : null;
        }
        channel = ring == null ? socket : ring;
        reader = ring == null ? answers : new BlockReader(ring, Wire.NATIVE);
        writer = ring == null ? requests : new BlockWriter(ring);
    }

    /** Connects to a server. */
    public static Connection open(SocketAddress address) throws IOException {
        SocketChannel socket = Sockets.connect(address);
        try {
            if (!Sockets.isUnix(address)) {
                socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
            }
            return new Connection(socket);
        } catch (IOException | RuntimeException error) {
            socket.close();
            throw error;
        }
    }

    /** Connects to a server that listens on a Unix socket; from Java 16 on. */
    public static Connection open(String path) throws IOException {
        return open(Sockets.unixAddress(path));
    }

    /** Whether both ends have an address of this machine. */
    static boolean isOwn(SocketChannel socket) throws IOException {
        return socket.getRemoteAddress() instanceof java.net.InetSocketAddress
                && ((java.net.InetSocketAddress) socket.getRemoteAddress()).getAddress().equals(
                        ((java.net.InetSocketAddress) socket.getLocalAddress()).getAddress());
    }

    /** Whether calls pass through memory. */
    public boolean hasRing() {
        return channel instanceof SharedRing;
    }

    /**
     * Sends a command and its arguments, and waits for the answer: its values, one where a function in Python has
     * answered.
     *
     * @throws CallException where the other side could not answer
     * @throws IllegalArgumentException for an argument without a type
     * @throws IOException where the connection has ended, in this call or an earlier one
     */
    public synchronized List<Object> call(String command, Object... arguments) throws IOException {
        if (writer.isPartlyWritten() || reader.hasFailed()) {
            throw new IOException("the connection ended in an earlier call: open another");
        }
        List<Object> values = new ArrayList<>(arguments.length + 1);
        values.add(new Command(command));
        values.addAll(Arrays.asList(arguments));
        id = id + 1 & 0xffffffffL;
        writer.write(new Message(Wire.NATIVE, id, true, values));
        Message answer = reader.read();
        if (answer == null) {
            throw ended();
        }
        if (answer.id != id) {
            close();
            throw new BlockException("expected the reply to message " + id + ", not to " + answer.id,
                    reader.offset(), -1);
        }
        List<Object> found = answer.values;
        if (found.size() == 3 && Server.ERROR.equals(found.get(0))) {
            throw new CallException(String.valueOf(found.get(1)), String.valueOf(found.get(2)));
        }
        return found;
    }

    private static IOException ended() {
        return new IOException("the other side has closed the connection");
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
