package org.typedbytes.block;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * Answers the calls of other processes, such as those of {@code typedbytes.block.connect} in Python: through memory
 * where they offer a {@link SharedRing}, and otherwise over the socket.
 *
 * <pre>{@code
 * try (Server server = Server.listen(new InetSocketAddress("127.0.0.1", 4321))) {
 *     server.on("add", values -> (Integer) values.get(0) + (Integer) values.get(1));
 *     server.run();
 * }
 * }</pre>
 *
 * <p>All that can connect can call: listen on the address of the loopback, or on a path in a folder of your own.
 */
public final class Server implements Closeable {
    static final Command ERROR = new Command("error");
    private static final int MOST_CLIENTS = 1000;
    private static final int PAUSE_MILLIS = 10;    // after a client that could not be accepted

    /** Answers one command. */
    public interface Handler {
        /**
         * @param arguments the values after the command
         * @return the answer: one value, or an {@code Object[]} of several; an exception is one of the caller
         */
        Object answer(List<Object> arguments) throws Exception;
    }

    private final ServerSocketChannel listener;
    private final Map<String, Handler> handlers = new ConcurrentHashMap<>();
    private volatile BiConsumer<String, Throwable> errors = (command, error) -> { };
    private final Set<SocketChannel> clients = ConcurrentHashMap.newKeySet();

    private final Path path;      // absolute; null: not of a Unix socket
    private final Object file;    // which one it was when it was made

    private Server(ServerSocketChannel listener) throws IOException {
        this.listener = listener;
        SocketAddress address = listener.getLocalAddress();
        path = Sockets.isUnix(address) ? Paths.get(address.toString()).toAbsolutePath() : null;
        file = path == null ? null : Sockets.fileAt(path);
    }

    /** Listens on an address; port 0 stands for any that is free. */
    public static Server listen(SocketAddress address) throws IOException {
        return new Server(Sockets.listen(address));
    }

    /** Listens on a Unix socket, at a path that does not exist; from Java 16 on. */
    public static Server listen(String path) throws IOException {
        return listen(Sockets.unixAddress(path));
    }

    /** The address on which it listens. */
    public SocketAddress address() throws IOException {
        return listener.getLocalAddress();
    }

    /** Says what answers a command. Several threads may call the handler at once. */
    public Server on(String command, Handler handler) {
        if (SharedRing.RING.toString().equals(command)) {
            throw new IllegalArgumentException("the command \"ring\" is for the memory of a ring");
        }
        handlers.put(command, handler);
        return this;
    }

    /**
     * Says what is called with each exception that a caller gets as an error, and with the command of the call, such as
     * {@code (command, error) -> error.printStackTrace()}. Several threads may call it at once; what it throws changes
     * nothing.
     */
    public Server onError(BiConsumer<String, Throwable> action) {
        errors = java.util.Objects.requireNonNull(action);
        return this;
    }

    /**
     * Closes this server when a stream ends. {@code System.in} is such a stream where another process holds its other
     * end: the server then ends with that process, even a killed one.
     */
    public Server closeAtEndOf(InputStream stream) {
        Thread thread = new Thread(() -> {
            byte[] ignored = new byte[512];
            try {
                try {
                    while (stream.read(ignored) >= 0) {
                        continue;
                    }
                } finally {
                    close();
                }
            } catch (IOException error) {
                // The stream has ended, too, or the path of the server cannot be removed.
            }
        }, "typedbytes end of input");
        thread.setDaemon(true);
        thread.start();
        return this;
    }

    /** Serves clients, 1000 at once and each in a thread of its own, until the server is closed. */
    public void run() throws IOException {
        while (listener.isOpen()) {
            SocketChannel client;
            try {
                client = listener.accept();
                if (clients.size() >= MOST_CLIENTS) {
                    client.close();
                    continue;
                }
            } catch (java.nio.channels.ClosedChannelException error) {
                return;
            } catch (IOException error) {    // the client has ended, or there are no descriptors left
                pause();
                continue;
            }
            clients.add(client);
            Thread thread = new Thread(() -> serve(client), "typedbytes client");
            thread.setDaemon(true);
            thread.start();
            if (!listener.isOpen()) {    // since it was accepted
                client.close();
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();    // the next accept() ends with it
        }
    }

    private void serve(SocketChannel client) {
        try (SocketChannel channel = client) {
            if (!Sockets.isUnix(channel.getLocalAddress())) {
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            }
            answerAll(channel);
        } catch (IOException error) {
            // The client has ended, or is not one.
        } finally {
            clients.remove(client);
        }
    }

    private void answerAll(ByteChannel channel) throws IOException {
        BlockReader reader = new BlockReader(channel, Wire.NATIVE);
        BlockWriter writer = new BlockWriter(channel);
        for (Message message = reader.read(); message != null; message = reader.read()) {
            if (channel instanceof SocketChannel && SharedRing.isOffer(message)) {
                SharedRing ring = SharedRing.accept((SocketChannel) channel, reader, writer, message);
                if (ring != null) {
                    answerAll(ring);
                    return;
                }
            } else if (message.wantsReply) {
                answer(message, writer);
            } else if (message.values.size() == 1 && SharedRing.RING.equals(message.values.get(0))) {
                writer.write(reply(message, SharedRing.REFUSED, "a virtual machine cannot make a ring"));
            } else {
                result(message);    // an exception ends the connection, and is reported as any of a thread
            }
        }
    }

    private void answer(Message message, BlockWriter writer) throws IOException {
        Message answer;
        try {
            Object result = result(message);
            answer = reply(message, result instanceof Object[] ? (Object[]) result : new Object[] {result});
        } catch (RuntimeException error) {
            answer = failure(message, error.getCause() == null ? error : error.getCause());
        }
        try {
            writer.write(answer);
        } catch (IllegalArgumentException error) {    // there is no type for it, and nothing was written
            writer.write(failure(message, error));
        }
    }

    /** What a handler returns; its exceptions are causes of the one that is thrown. */
    private Object result(Message message) {
        List<Object> values = message.values;
        try {
            if (values.isEmpty() || !(values.get(0) instanceof Command)) {
                throw new IllegalArgumentException("the message has no command as its first value: "
                        + "in Python, call(Command(\"NAME\"), ...)");
            }
            Handler handler = handlers.get(values.get(0).toString());
            if (handler == null) {
                throw new IllegalArgumentException("unknown command " + values.get(0) + "; known: "
                        + String.join(", ", new TreeSet<>(handlers.keySet())));
            }
            return handler.answer(values.subList(1, values.size()));
        } catch (Exception | StackOverflowError error) {
            throw new IllegalStateException(error);
        }
    }

    private Message failure(Message message, Throwable error) {
        try {
            errors.accept(message.values.isEmpty() ? "" : String.valueOf(message.values.get(0)), error);
        } catch (RuntimeException second) {
            error.addSuppressed(second);
        }
        byte[] text = String.valueOf(error.getMessage()).getBytes(StandardCharsets.UTF_8);    // without lone surrogates
        return reply(message, ERROR, error.getClass().getSimpleName(), new String(text, StandardCharsets.UTF_8));
    }

    private static Message reply(Message message, Object... values) {
        return new Message(Wire.NATIVE, message.id, false, Arrays.asList(values));
    }

    /** Ends {@link #run} and all connections, and removes the path of a Unix socket if it is still this server's. */
    @Override
    public void close() throws IOException {
        if (!listener.isOpen()) {
            return;
        }
        try {
            if (path != null && file != null && file.equals(Sockets.fileAt(path))) {
                Files.deleteIfExists(path);    // before run() returns, after which the process may end
            }
        } finally {
            listener.close();
            for (SocketChannel client : clients) {
                client.close();
            }
        }
    }
}
