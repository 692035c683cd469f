import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import org.typedbytes.block.BlockReader;
import org.typedbytes.block.Message;
import org.typedbytes.block.Nested;
import org.typedbytes.block.SharedMemory;
import org.typedbytes.block.Wire;

/**
 * Reads inputs, one after the other in one virtual machine, and reports for each how many messages came out of it, and
 * what ended it: "end", or what was thrown.
 *
 * <p>An input on standard input is: u8 wire, u16 bytes that the channel gives at once (0: all), i32 length, bytes.
 */
public final class ReadHostileBlocks {
    private static int nmessages;

    private ReadHostileBlocks() {
    }

    public static void main(String[] arguments) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        PrintStream out = new PrintStream(System.out, false);
        for (int wire = in.read(); wire >= 0; wire = in.read()) {
            int step = in.readUnsignedShort();
            byte[] data = new byte[in.readInt()];
            in.readFully(data);
            nmessages = 0;
            String verdict = verdict(new BlockReader(new Pieces(data, step), Wire.values()[wire]));
            out.println(nmessages + " " + verdict);
        }
        out.flush();
    }

    private static String verdict(BlockReader reader) {
        try {
            for (Message message = reader.read(); message != null; message = reader.read()) {
                take(message);
                nmessages++;
            }
            return "end";
        } catch (Throwable error) {
            return error.getClass().getSimpleName() + " " + error.getMessage();
        }
    }

    private static void take(Message message) throws IOException {
        for (Object value : message.values) {
            if (value instanceof Nested) {
                ((Nested) value).toJava();
            }
        }
        if (SharedMemory.isOffer(message)) {
            new SharedMemory(message);
        }
    }

    /** A channel that gives a few bytes at once. */
    private static final class Pieces implements ReadableByteChannel {
        private final ByteBuffer data;
        private final int step;

        Pieces(byte[] data, int step) {
            this.data = ByteBuffer.wrap(data);
            this.step = step == 0 ? Integer.MAX_VALUE : step;
        }

        @Override
        public int read(ByteBuffer target) {
            if (!data.hasRemaining()) {
                return -1;
            }
            int length = Math.min(step, Math.min(data.remaining(), target.remaining()));
            ByteBuffer part = data.duplicate();
            part.limit(part.position() + length);
            target.put(part);
            data.position(data.position() + length);
            return length;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
        }
    }
}
