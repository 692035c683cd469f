package org.typedbytes.block;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.ConnectException;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * Unix sockets, which Java has from version 16 on; by reflection, because the module is compiled for Java 8.
 */
final class Sockets {
    private static final String UNIX_ADDRESS = "java.net.UnixDomainSocketAddress";

    private Sockets() {
    }

    /** The address of a Unix socket. */
    static SocketAddress unixAddress(String path) throws IOException {
        try {
            return (SocketAddress) Class.forName(UNIX_ADDRESS).getMethod("of", String.class).invoke(null, path);
        } catch (ReflectiveOperationException error) {
            throw asIOException(error);
        }
    }

    static boolean isUnix(SocketAddress address) {
        return address != null && address.getClass().getName().equals(UNIX_ADDRESS);
    }

    /** What tells a file from one that replaces it at its path; null where there is none. */
    static Object fileAt(Path path) throws IOException {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).fileKey();
        } catch (NoSuchFileException error) {
            return null;
        }
    }

    static ServerSocketChannel listen(SocketAddress address) throws IOException {
        ServerSocketChannel server = isUnix(address)
                ? (ServerSocketChannel) open(ServerSocketChannel.class) : ServerSocketChannel.open();
        try {
            return server.bind(address);
        } catch (IOException | RuntimeException error) {
            server.close();
            throw error;
        }
    }

    static SocketChannel connect(SocketAddress address) throws IOException {
        SocketChannel channel = isUnix(address) ? (SocketChannel) open(SocketChannel.class) : SocketChannel.open();
        try {
            channel.connect(address);
            return channel;
        } catch (SocketException error) {
            channel.close();
            throw withAddress(error, address);
        } catch (UnresolvedAddressException error) {
            channel.close();
            throw new UnknownHostException(address.toString());
        } catch (IOException | RuntimeException error) {
            channel.close();
            throw error;
        }
    }

    private static IOException withAddress(SocketException error, SocketAddress address) {
        String message = error.getMessage() + ": " + address;
        SocketException named = error instanceof ConnectException ? new ConnectException(message)
                : new SocketException(message);
        named.initCause(error);
        return named;
    }

    private static Object open(Class<?> kind) throws IOException {
        try {
            return kind.getMethod("open", ProtocolFamily.class).invoke(null, StandardProtocolFamily.valueOf("UNIX"));
        } catch (ReflectiveOperationException | IllegalArgumentException error) {
            throw asIOException(error);
        }
    }

    private static IOException asIOException(Exception error) {
        Throwable cause = error instanceof InvocationTargetException ? error.getCause() : null;
        if (cause instanceof RuntimeException) {
            throw (RuntimeException) cause;
        }
        return cause instanceof IOException ? (IOException) cause
                : new IOException("a Unix socket needs Java 16 or later", error);
    }
}
