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
         * @return the answer: one value, or an {@code Object[]} of several; an exception or an error that it throws is
         *     one of the caller
         */
        Object answer(List<Object> arguments) throws Exception;
    }

    private final ServerSocketChannel listener;
    private final Map<String, Handler> handlers = new ConcurrentHashMap<>();
    private volatile BiConsumer<String, Throwable> errors = (command, error) -> { };
    private final Set<SocketChannel> clients = ConcurrentHashMap.newKeySet();

    private final Path path;      // absolute; null: not of a Unix socket
    private final Object file;    // which one it was when it was made
    private boolean ownsPath;     // until it has been removed

    private Server(ServerSocketChannel listener) throws IOException {
        this.listener = listener;
        SocketAddress address = listener.getLocalAddress();
        path = Sockets.isUnix(address) ? Paths.get(address.toString()).toAbsolutePath() : null;
        file = path == null ? null : Sockets.fileAt(path);
        ownsPath = file != null;
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
            } catch (java.nio.channels.ClosedChannelException error) {
                return;
            } catch (IOException | OutOfMemoryError error) {    // the client has ended; no descriptor or memory is left
                pause();
                continue;
            }
            if (clients.size() < MOST_CLIENTS) {
                start(client);
            } else {
                disconnect(client);
            }
        }
    }

    /** Serves a client in a thread of its own, or disconnects it. */
    private void start(SocketChannel client) {
        clients.add(client);
        try {
            Thread thread = new Thread(() -> serve(client), "typedbytes client");
            thread.setDaemon(true);
            thread.start();
        } catch (OutOfMemoryError error) {    // there are too many threads
            clients.remove(client);
            disconnect(client);
        }
        if (!listener.isOpen()) {    // since it was accepted
            disconnect(client);
        }
    }

    private static void disconnect(SocketChannel client) {
        try {
            client.close();
        } catch (IOException error) {
            // It has ended.
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
                try {
                    result(message);
                } catch (Exception error) {    // it ends the connection, and is reported as any of a thread
                    throw new IllegalStateException(error);
                }
            }
        }
    }

    private void answer(Message message, BlockWriter writer) throws IOException {
        try {
            Object result = result(message);
            writer.write(reply(message, result instanceof Object[] ? (Object[]) result : new Object[] {result}));
        } catch (Throwable error) {    // of the handler, or of a list that it has returned and that is made when read
            if (writer.isPartlyWritten() || isOfTheMachine(error)) {
                throw asIOException(error);
            }
            writer.write(failure(message, error));    // nothing was written of the answer
        }
    }

    /**
     * Whether the virtual machine may be broken. It goes on after a StackOverflowError and an OutOfMemoryError, which
     * one call alone may be the cause of.
     */
    private static boolean isOfTheMachine(Throwable error) {
        return error instanceof VirtualMachineError
                && !(error instanceof StackOverflowError || error instanceof OutOfMemoryError);
    }

    private static IOException asIOException(Throwable error) {
        if (error instanceof Error) {
            throw (Error) error;
        } else if (error instanceof RuntimeException) {
            throw (RuntimeException) error;
        }
        return error instanceof IOException ? (IOException) error : new IOException(error);
    }

    /** What a handler returns. */
    private Object result(Message message) throws Exception {
        List<Object> values = message.values;
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
    }

    private Message failure(Message message, Throwable error) {
        try {
            errors.accept(message.values.isEmpty() ? "" : String.valueOf(message.values.get(0)), error);
        } catch (Throwable second) {
            if (second != error) {    // no exception suppresses itself
                error.addSuppressed(second);
            }
        }
        Class<?> named = error.getClass();
        while (named.isAnonymousClass()) {
            named = named.getSuperclass();
        }
        byte[] text = messageOf(error).getBytes(StandardCharsets.UTF_8);    // without lone surrogates
        return reply(message, ERROR, named.getSimpleName(), new String(text, StandardCharsets.UTF_8));
    }

    private static String messageOf(Throwable error) {
        try {
            return String.valueOf(error.getMessage());
        } catch (RuntimeException | Error second) {    // its class has a getMessage() of its own
            return "its message cannot be read: " + second.getClass().getName();
        }
    }

    private static Message reply(Message message, Object... values) {
        return new Message(Wire.NATIVE, message.id, false, Arrays.asList(values));
    }

    /**
     * Ends {@link #run} and all connections, and removes the path of a Unix socket if it is still this server's. An
     * interrupt of a thread in {@link #run} ends only that: the connections and the path stay until this is called.
     */
    @Override
    public void close() throws IOException {
        try {
            removePath();    // before run() returns, after which the process may end
        } finally {
            listener.close();    // which the interrupt of a thread in run() has done, and no more than that
            clients.forEach(Server::disconnect);
        }
    }

    /** Once: later, another server may have a socket there, even one of the same number. */
    private synchronized void removePath() throws IOException {
        if (ownsPath && file.equals(Sockets.fileAt(path))) {
            Files.deleteIfExists(path);
        }
        ownsPath = false;
    }
}
