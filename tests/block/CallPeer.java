import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.typedbytes.block.ArrayValue;
import org.typedbytes.block.CallException;
import org.typedbytes.block.Connection;
import org.typedbytes.block.Nested;
import org.typedbytes.block.Server;

/**
 * A server, or a client, in Java: serve [PATH], call PATH-OR-PORT, outlive PATH-OR-PORT.
 *
 * A server prints its port, and ends with its input. A client prints what its calls gave; one that outlives its server
 * waits for a line of input before it goes on.
 */
public class CallPeer {
    public static void main(String[] arguments) throws Exception {
        String where = arguments.length > 1 ? arguments[1] : null;
        if (arguments[0].equals("serve")) {
            serve(where);
        } else if (arguments[0].equals("outlive")) {
            outlive(where);
        } else {
            call(where);
        }
    }

    private static void serve(String path) throws Exception {
        Server server = path == null ? Server.listen(new InetSocketAddress("127.0.0.1", 0)) : Server.listen(path);
        AtomicReference<String> lastError = new AtomicReference<>();
        server.onError((command, error) -> {
            lastError.set(command + ": " + error);
            throw new IllegalStateException("the answer goes out in any case");
        });
        server.on("add", CallPeer::sum)
            .on("echo", values -> values.get(0))
            .on("list", values -> ((Nested) values.get(0)).toJava().toString())
            .on("copy", values -> ((Nested) values.get(0)).toJava())
            .on("tuple", values -> Nested.of(new Object[] {values.get(0), (byte) 1, 2.5f}))
            .on("deep list", values -> {
                List<Object> list = new ArrayList<>();
                list.add(list);
                return list;
            })
            .on("halves", values -> {
                double[] numbers = ((ArrayValue) values.get(0)).toDoubleArray();
                java.util.Arrays.setAll(numbers, i -> numbers[i] / 2);
                return numbers;
            })
            .on("visit", values -> new Object[] {"ann", 3})
            .on("fail", values -> Integer.parseInt("no number"))
            .on("check", values -> {
                throw new Exception("checked \ud800");
            })
            .on("deep", values -> deep(0))
            .on("assert", values -> {
                throw new AssertionError("asserted");
            })
            .on("unnamed", values -> {
                throw new IllegalStateException("of no name") { };
            })
            .on("lazy", values -> new java.util.AbstractList<Object>() {
                @Override
                public Object get(int index) {
                    if (index == 2) {
                        throw new NoClassDefFoundError("org/example/Missing");
                    }
                    return new byte[500_000];
                }

                @Override
                public int size() {
                    return 3;
                }
            })
            .on("levels", values -> {
                List<Object> list = new ArrayList<>();
                for (int i = 1; i < (Integer) values.get(0); i++) {
                    list = new ArrayList<>(java.util.Collections.singletonList(list));
                }
                return list;
            })
            .on("strange", values -> new Object())
            .on("last error", values -> lastError.get())
            .on("wait", values -> {
                Thread.sleep(200);
                return "late";
            })
            .on("exit", values -> {
                Runtime.getRuntime().halt(3);
                return null;
            });
        System.out.println(path == null ? ((InetSocketAddress) server.address()).getPort() : path);
        server.closeAtEndOf(System.in);
        server.run();
        System.out.println("closed");
    }

    private static Object sum(List<Object> values) {
        double sum = 0;
        for (Object value : values) {
            sum += ((Number) value).doubleValue();
        }
        return sum;
    }

    private static int deep(int level) {
        return deep(level + 1) + 1;
    }

    private static Connection open(String where) throws Exception {
        return where.startsWith("/") ? Connection.open(where)
                : Connection.open(new InetSocketAddress("127.0.0.1", Integer.parseInt(where)));
    }

    private static void outlive(String where) throws Exception {
        try (Connection connection = open(where)) {
            System.out.println(connection.call("add", 1, 2.5));
            System.in.read();
            for (int i = 0; i < 5; i++) {
                try {
                    connection.call("add", 1);
                } catch (java.io.IOException | RuntimeException error) {
                    System.out.println(error instanceof java.io.IOException ? "IOException" : error);
                }
            }
        }
    }

    private static void call(String where) throws Exception {
        try (Connection connection = open(where)) {
            System.out.println(connection.hasRing());
            System.out.println(connection.call("add", 1, 2.5));
            System.out.println(connection.call("nothing"));
            byte[] large = new byte[300_000];
            large[299_999] = 7;
            System.out.println(((byte[]) connection.call("echo", (Object) large).get(0))[299_999]);
            System.out.println(((Nested) connection.call("list").get(0)).toJava());
            System.out.println(connection.call("total", new double[] {1, 2.5}));
            System.out.println(connection.call("total", new short[] {-1, 3}));
            System.out.println(connection.call("total", new boolean[] {true, false, true}));
            for (String command : new String[] {"fail", "other"}) {
                try {
                    connection.call(command, 1);
                } catch (CallException error) {
                    System.out.println(error.kind + "; " + error.getMessage());
                }
            }
            try {
                connection.call("add", new Object());
            } catch (IllegalArgumentException error) {
                System.out.println("IllegalArgumentException");
            }
            AtomicInteger right = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Thread thread = new Thread(() -> {
                    try {
                        for (int n = 0; n < 100; n++) {
                            right.addAndGet((Integer) connection.call("add", n, -n, 1).get(0));
                        }
                    } catch (java.io.IOException error) {
                        error.printStackTrace();
                    }
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            System.out.println(right);
            try {
                connection.call("end");    // whose answer may still come
                connection.call("add");
            } catch (java.io.IOException error) {
                System.out.println("ended");
            }
        }
    }
}
