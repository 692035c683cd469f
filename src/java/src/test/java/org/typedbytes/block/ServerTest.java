package org.typedbytes.block;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.Test;

/** What a server makes of its handlers' errors, and its end. Both in one virtual machine; with Python: tests/block. */
public class ServerTest {
    private static Thread start(Server server) {
        Thread thread = new Thread(() -> {
            try {
                server.run();
            } catch (IOException error) {
                throw new AssertionError(error);
            }
        });
        thread.start();
        return thread;
    }

    private static CallException failure(Connection connection, String command) {
        return assertThrows(command, CallException.class, () -> connection.call(command));
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void throwUnchecked(Throwable error) throws E {
        throw (E) error;
    }

    /** A list whose first items are there, and whose others throw. */
    private static List<Object> lazy(Throwable error) {
        return new AbstractList<Object>() {
            @Override
            public Object get(int index) {
                if (index > 1) {
                    ServerTest.<RuntimeException>throwUnchecked(error);
                }
                return index;
            }

            @Override
            public int size() {
                return 100;
            }
        };
    }

    @Test
    public void whatAHandlerThrowsIsOfItsCallerAlone() throws Exception {
        List<String> logged = new ArrayList<>();
        try (Server server = Server.listen(new InetSocketAddress("127.0.0.1", 0))) {
            Throwable[] errors = {new AssertionError("a"), new NoClassDefFoundError("com/x/Y"),
                new ExceptionInInitializerError("i"), new StackOverflowError(), new OutOfMemoryError("too large"),
                new IllegalStateException("s"), new TimeoutException("t"), new IOException("io"), new Throwable("o")};
            for (Throwable error : errors) {
                server.on(error.getClass().getSimpleName(), values -> {
                    ServerTest.<RuntimeException>throwUnchecked(error);
                    return null;
                });
                server.on("lazy " + error.getClass().getSimpleName(), values -> lazy(error));
            }
            server.on("unnamed", values -> {
                throw new IllegalStateException("u") { };
            });
            server.on("no message", values -> {
                throw new RuntimeException() {
                    @Override
                    public String getMessage() {
                        throw new UnsupportedOperationException();
                    }
                };
            });
            server.on("add", values -> (Integer) values.get(0) + 1);
            server.onError((command, error) -> {
                logged.add(command + " " + error.getClass().getName());
                ServerTest.<RuntimeException>throwUnchecked(logged.size() % 2 == 0 ? error : new AssertionError());
            });
            start(server);
            try (Connection connection = Connection.open(server.address())) {
                for (Throwable error : errors) {
                    String name = error.getClass().getSimpleName();
                    for (String command : Arrays.asList(name, "lazy " + name)) {
                        CallException found = failure(connection, command);
                        boolean isWrapped = command.equals("lazy IOException");    // memory has none of its own
                        assertEquals(command, isWrapped ? "IllegalArgumentException" : name, found.kind);
                        assertTrue(found.getMessage(), found.getMessage().contains(": "
                                + (isWrapped ? "java.io.IOException: " : "") + error.getMessage()));
                        assertEquals(Collections.singletonList(2), connection.call("add", 1));
                    }
                }
                assertEquals(2 * errors.length, logged.size());
                assertEquals("lazy AssertionError java.lang.AssertionError", logged.get(1));
                assertEquals("IllegalStateException: u", failure(connection, "unnamed").getMessage());
                assertEquals("IllegalStateException", failure(connection, "unnamed").kind);
                assertEquals("RuntimeException: its message cannot be read: java.lang.UnsupportedOperationException",
                        failure(connection, "no message").getMessage());
                assertEquals(Collections.singletonList(2), connection.call("add", 1));
            }
        }
    }

    @Test
    public void anAnswerHasAsManyLevelsAsAReaderTakes() throws Exception {
        try (Server server = Server.listen(new InetSocketAddress("127.0.0.1", 0))) {
            server.on("levels", values -> {
                List<Object> list = new ArrayList<>();
                for (int i = 1; i < (Integer) values.get(0); i++) {
                    list = new ArrayList<>(Collections.singletonList(list));
                }
                return list;
            });
            server.on("wrap", values -> Collections.singletonList(values.get(0)));
            start(server);
            try (Connection connection = Connection.open(server.address())) {
                Nested deepest = (Nested) connection.call("levels", 256).get(0);
                assertTrue(deepest.toJava() instanceof List);
                String message = "IllegalArgumentException: containers nest deeper than 256";
                assertEquals(message, assertThrows(CallException.class, () -> connection.call("levels", 257))
                        .getMessage());
                message = "IllegalArgumentException: a Nested in a collection: containers nest deeper than 256 at "
                        + "offset 255";
                assertEquals(message, assertThrows(CallException.class, () -> connection.call("wrap", deepest))
                        .getMessage());
                assertEquals(1, connection.call("wrap", connection.call("levels", 255).get(0)).size());
            }
        }
    }

    @Test
    public void aServerWhoseThreadWasInterruptedIsClosedAsAnyOther() throws Exception {
        Path folder = Files.createTempDirectory("typedbytes");
        Path path = folder.resolve("calls");
        SocketAddress address;
        try {
            address = Sockets.unixAddress(path.toString());
        } catch (IOException error) {    // before Java 16
            address = new InetSocketAddress("127.0.0.1", 0);
        }
        try (Server server = Server.listen(address)) {
            server.on("add", values -> (Integer) values.get(0) + 1);
            Thread thread = start(server);
            try (Connection connection = Connection.open(server.address())) {
                assertEquals(Collections.singletonList(2), connection.call("add", 1));
                thread.interrupt();
                thread.join();
                server.close();
                assertThrows(IOException.class, () -> connection.call("add", 1));
                assertFalse(Files.exists(path));
                try (Server next = Server.listen(address)) {
                    server.close();
                    assertEquals(Sockets.isUnix(next.address()), Files.exists(path));
                }
                assertFalse(Files.exists(path));
            }
        } finally {
            Files.delete(folder);
        }
    }
}
