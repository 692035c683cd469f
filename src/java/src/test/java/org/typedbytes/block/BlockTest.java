package org.typedbytes.block;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.Test;

/** Bytes on every wire, both ways, and what becomes of bad ones. */
public class BlockTest {
    private static final Command A = new Command("a");
    private static final List<Object> PLAIN =
            Arrays.asList(A, "na\u00efve \\ \r\n \ud83d\ude00", -789456123, 361231231231231231L,
            1.0 / 3, Double.NEGATIVE_INFINITY, new byte[] {0, 1, -1}, "", new byte[0]);
    private static final String EXAMPLE =
            "000000040000000200000001610000000100000005" + "68656c6c6f00000003d0f1db05000000010000000568656c6c6f";

    private static byte[] write(Message message, boolean checksum) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new BlockWriter(Channels.newChannel(out), checksum).write(message);
        return out.toByteArray();
    }

    private static Message read(Wire wire, byte[] data) throws IOException {
        return new BlockReader(Channels.newChannel(new ByteArrayInputStream(data)), wire).read();
    }

    private static byte[] hex(String digits) {
        String plain = digits.replace(" ", "");
        byte[] data = new byte[plain.length() / 2];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) Integer.parseInt(plain.substring(2 * i, 2 * i + 2), 16);
        }
        return data;
    }

    private static void assertSame(List<Object> expected, List<Object> found) {
        assertEquals(expected.size(), found.size());
        for (int i = 0; i < expected.size(); i++) {
            if (expected.get(i) instanceof byte[]) {
                assertArrayEquals((byte[]) expected.get(i), (byte[]) found.get(i));
            } else {
                assertEquals(expected.get(i), found.get(i));
            }
        }
    }

    @Test
    public void thePublishedExample() throws IOException {
        Message message = new Message(Wire.BYTES, Arrays.asList(A, "hello", -789456123, "hello"));
        assertArrayEquals(hex(EXAMPLE), write(message, false));
        assertSame(message.values, read(Wire.BYTES, hex(EXAMPLE)).values);
    }

    @Test
    public void aHeaderHasNumbersInBinary() throws IOException {
        byte[] data = hex("00000003 0000000300000004 0000000400000008 0000000500000008 "
                + "d0f1db05 050359e4135084ff 3fd5555555555555");
        List<Object> values = Arrays.asList(-789456123, 361231231231231231L, 1.0 / 3);
        assertArrayEquals(data, write(new Message(Wire.HEADER, values), false));
        assertSame(values, read(Wire.HEADER, data).values);
    }

    @Test
    public void aCommandInLinesIsNotEscaped() throws IOException {
        List<Object> values = Arrays.asList(new Command("a\\n"), "a\\n");
        byte[] data = hex("320a 615c6e 0a 310a 615c5c6e 0a 650a");
        assertArrayEquals(data, write(new Message(Wire.LINE, values), false));
        assertSame(values, read(Wire.LINE, data).values);
    }

    @Test
    public void everyWireGivesBackWhatItTook() throws IOException {
        byte[] large = new byte[700_000];
        Arrays.fill(large, (byte) 7);
        for (Wire wire : Wire.values()) {
            for (List<Object> values
                    : Arrays.asList(PLAIN, Collections.emptyList(), Arrays.<Object>asList(large, "after"))) {
                assertSame(values, read(wire, write(new Message(wire, values), false)).values);
            }
        }
    }

    @Test
    public void everyWireComesInOneByteAtATime() throws IOException {
        for (Wire wire : Wire.values()) {
            byte[] data = write(new Message(wire, PLAIN), false);
            BlockReader reader = new BlockReader(Channels.newChannel(dribble(data)), wire);
            assertSame(PLAIN, reader.read().values);
            assertNull(reader.read());
        }
    }

    @Test
    public void everyCutIsSeen() throws IOException {
        for (Wire wire : Wire.values()) {
            byte[] data = write(new Message(wire, PLAIN), wire == Wire.NATIVE);
            for (int length = 1; length < data.length; length++) {
                byte[] cut = Arrays.copyOf(data, length);
                assertThrows(EOFException.class, () -> read(wire, cut));
            }
        }
    }

    @Test
    public void nativeMessagesKeepTypes() throws IOException {
        ByteBuffer numbers = ByteBuffer.allocate(48).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 6; i++) {
            numbers.putDouble(i / 2.0);
        }
        numbers.flip();
        List<Object> values = new ArrayList<>(Arrays.asList((byte) 5, true, 1.5f, null, Long.valueOf(7)));
        values.add(new ArrayValue(ArrayValue.Element.F8, new long[] {2, 3}, numbers));
        values.add(new Nested(hex("0a000000010700000001610903000000010204ff")));
        byte[] data = write(new Message(Wire.NATIVE, 0xfffffffeL, true, values), true);
        Message message = read(Wire.BYTES, data);
        assertEquals(0xfffffffeL, message.id);
        assertTrue(message.wantsReply);
        assertSame(values.subList(0, 5), message.values.subList(0, 5));
        ArrayValue array = (ArrayValue) message.values.get(5);
        assertArrayEquals(new long[] {2, 3}, array.shape());
        assertEquals(2.5, array.elements().asDoubleBuffer().get(5), 0);
        assertEquals(Collections.singletonMap("a", Arrays.asList(1, true)), ((Nested) message.values.get(6)).toJava());
        for (int bit = 0; bit < 8 * data.length; bit++) {
            byte[] flipped = data.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            if (bit != 8 * 4 + 1) {    // the flag of the checksum itself
                assertThrows(IOException.class, () -> read(Wire.NATIVE, flipped));
            }
        }
    }

    /** Small messages are written and read in one pass, others value by value. */
    @Test
    public void aMessageInOnePassIsThatInMany() throws IOException {
        char[] letters = new char[300];
        Arrays.fill(letters, 'x');
        String text = new String(letters);
        List<List<Object>> messages = new ArrayList<>(Arrays.asList(PLAIN, Collections.emptyList()));
        for (int length : new int[] {0, 1, 7, 8, 255, 256, 257}) {
            String part = text.substring(0, length);
            messages.add(Arrays.asList(new Command(part), 5, part, 2.5, part.getBytes(), true, null, 1L << 40, A, A));
        }
        messages.add(Arrays.asList(A, 1, "\ufffd", new byte[262_000], "does not fit in the buffer", text));
        for (List<Object> values : messages) {
            Message message = new Message(Wire.NATIVE, 0xfffffffeL, true, values);
            byte[] whole = write(message, false);
            byte[] summed = write(message, true);
            summed[4] ^= 2;    // its flag
            assertArrayEquals(Arrays.copyOf(summed, summed.length - 4), whole);
            assertSame(values, read(Wire.NATIVE, whole).values);
        }
        List<Object> values = Arrays.asList(A, 5, "text", new byte[3], "", null, false, A, "na\u00efve", -1L, 0.5);
        byte[] data = write(new Message(Wire.NATIVE, values), false);
        for (int bit = 0; bit < 8 * data.length; bit++) {
            byte[] flipped = data.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            assertEquals(outcome(new BlockReader(Channels.newChannel(dribble(flipped)), Wire.NATIVE)),
                    outcome(new BlockReader(Channels.newChannel(new ByteArrayInputStream(flipped)), Wire.NATIVE)));
        }
    }

    private static String outcome(BlockReader reader) throws IOException {
        Message message;
        try {
            message = reader.read();
        } catch (IOException error) {
            return error.toString();
        }
        return Arrays.toString(write(message, true)) + reader.offset();
    }

    private static InputStream dribble(byte[] data) {
        return new ByteArrayInputStream(data) {
            @Override
            public synchronized int read(byte[] target, int offset, int length) {
                return super.read(target, offset, Math.min(length, 1));
            }
        };
    }

    @Test
    public void arraysOfJavaAreArrays() throws IOException {
        double[] large = new double[100_000];
        Arrays.setAll(large, i -> i / 7.0);
        Object[] arrays = {large, new double[] {1.5, Double.NaN}, new float[] {-0.5f}, new int[] {1, Integer.MIN_VALUE},
            new long[] {Long.MAX_VALUE}, new short[] {-2, 3}, new boolean[] {true, false, true}, new double[0]};
        for (ByteOrder order : Arrays.asList(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
            List<Object> values = new ArrayList<>(Arrays.asList(arrays));
            ByteBuffer number = ByteBuffer.allocate(2).order(order).putShort(0, (short) 258);
            values.add(new ArrayValue(ArrayValue.Element.U2, new long[0], number));    // whose order all have
            List<Object> found = read(Wire.NATIVE, write(new Message(Wire.NATIVE, values), true)).values;
            assertArrayEquals(new long[] {100_000}, ((ArrayValue) found.get(0)).shape());
            assertArrayEquals(large, ((ArrayValue) found.get(0)).toDoubleArray(), 0);
            assertArrayEquals(new double[] {1.5, Double.NaN}, ((ArrayValue) found.get(1)).toDoubleArray(), 0);
            assertArrayEquals(new double[] {-0.5}, ((ArrayValue) found.get(2)).toDoubleArray(), 0);
            assertArrayEquals(new long[] {1, Integer.MIN_VALUE}, ((ArrayValue) found.get(3)).toLongArray());
            assertArrayEquals(new long[] {Long.MAX_VALUE}, ((ArrayValue) found.get(4)).toLongArray());
            assertArrayEquals(new double[] {-2, 3}, ((ArrayValue) found.get(5)).toDoubleArray(), 0);
            assertEquals(ArrayValue.Element.BOOL, ((ArrayValue) found.get(6)).element);
            assertArrayEquals(new long[] {1, 0, 1}, ((ArrayValue) found.get(6)).toLongArray());
            assertEquals(0, ((ArrayValue) found.get(7)).toDoubleArray().length);
            assertArrayEquals(new long[] {258}, ((ArrayValue) found.get(8)).toLongArray());
        }
    }

    @Test
    public void numbersOfAnArrayAreConverted() {
        String[][] numbers = {
            {"I1", "80", "-128"}, {"U1", "80", "128"}, {"I2", "8000", "-32768"}, {"U2", "8000", "32768"},
            {"I4", "80000000", "-2147483648"}, {"U4", "80000000", "2147483648"}, {"BOOL", "01", "1"},
            {"I8", "8000000000000000", "-9223372036854775808"}, {"U8", "0000000000000005", "5"},
        };
        for (String[] each : numbers) {
            ArrayValue array = new ArrayValue(ArrayValue.Element.valueOf(each[0]), new long[0],
                    ByteBuffer.wrap(hex(each[1])));
            assertArrayEquals(each[0], new long[] {Long.parseLong(each[2])}, array.toLongArray());
            assertArrayEquals(each[0], new double[] {Double.parseDouble(each[2])}, array.toDoubleArray(), 0);
        }
        ArrayValue large = new ArrayValue(ArrayValue.Element.U8, new long[0], ByteBuffer.wrap(hex("ffffffffffffffff")));
        assertArrayEquals(new double[] {18446744073709551615.0}, large.toDoubleArray(), 0);
        assertThrows(ArithmeticException.class, large::toLongArray);
        ArrayValue half = new ArrayValue(ArrayValue.Element.F4, new long[0], ByteBuffer.wrap(hex("3f000000")));
        assertThrows(ArithmeticException.class, half::toLongArray);
    }

    @Test
    public void whatHasNoTypeSaysWhatHas() {
        Object[][] values = {
            {new Visit(), "Visit: a record is written by new Nested(RecordType.of(Visit.class).write(value))"},
            {new double[1][1], "double[][]: convert it"}, {new char[1], "char[]: convert it"},
            {new Object[1], "java.lang.Object[]: Nested.of(value)"}, {(short) 1, "java.lang.Short: convert it"},
        };
        for (Object[] each : values) {
            String message = assertThrows(IllegalArgumentException.class,
                    () -> write(new Message(Wire.NATIVE, Arrays.asList(each[0])), false)).getMessage();
            assertTrue(message, message.contains((String) each[1]));
        }
    }

    private static final class Visit {
    }

    @Test
    public void theErrorOfAConnectionNamesItsAddress() throws IOException {
        InetSocketAddress address;
        try (Server server = Server.listen(new InetSocketAddress("127.0.0.1", 0))) {
            address = (InetSocketAddress) server.address();
        }
        String message = assertThrows(ConnectException.class, () -> Connection.open(address)).getMessage();
        assertTrue(message, message.endsWith("127.0.0.1:" + address.getPort()));
        InetSocketAddress unknown = InetSocketAddress.createUnresolved("no.host.invalid", 1);
        message = assertThrows(UnknownHostException.class, () -> Connection.open(unknown)).getMessage();
        assertTrue(message, message.contains("no.host.invalid"));
    }

    @Test
    public void theChecksumIsCrc32c() {
        Crc32c sum = new Crc32c();
        sum.update("123456789".getBytes(java.nio.charset.StandardCharsets.US_ASCII), 0, 9);
        assertEquals(0xe3069283, sum.value());
    }

    @Test
    public void invalidMessagesAreRefused() {
        String[][] invalid = {
            {"TOTAL", "ffffffff", "0"}, {"TOTAL", "00000000", "0"},
            {"TOTAL", "0000000c 00000001 00000001 00000005 61", "16"}, {"TOTAL", "00000005 00000000 00", "8"},
            {"BYTES", "ffffffff", "0"}, {"BYTES", "00000001 00000000 ffffffff", "8"},
            {"TYPE8", "00000002 03 00000001 06", "9"}, {"HEADER", "00000001 00000000 80000000", "8"},
            {"HEADER", "00000002 00000000 00000000 00000003 00000005", "16"},
            {"HEADER", "00000001 00000005 7fffffff", "8"},
            {"HEADER", "00000001 00000003 00000008 0000000000000000", "8"},
            {"HEADER", "00000001 00000004 00000004 00000000", "8"},
            {"BLOCK", "00000001 00000003 00000002 2b31", "12"},
            {"BLOCK", "00000001 00000003 0000000a 32313437343833363438", "12"},
            {"BLOCK", "00000001 00000005 00000002 3166", "12"}, {"BLOCK", "00000001 00000005 00000002 2031", "12"},
            {"BLOCK", "00000001 00000005 00000005 3078317030", "12"}, {"BLOCK", "00000001 00000005 00000000", "12"},
            {"LINE", "36 0a", "0"}, {"LINE", "31 0a 5c78 0a", "2"}, {"LINE", "30 0a 41 0a", "2"},
            {"LINE", "31 0a 5c5c5c 0a", "2"}, {"LINE", "32 0a 610d 0a", "2"},
            {"LINE", "30 0a 595749 0a", "2"}, {"LINE", "30 0a 59574a3d 0a", "2"},
            {"BYTES", "00000001 00000001 00000002 61ff", "12"}, {"NATIVE", "00000000", "0"},
            {"NATIVE", "f5424201 00030000 00000000 00000000 0000000000000001", "24"},
            {"NATIVE", "f5424201 00030001 00000000 00000000 0000000000000000", "6"},
            {"NATIVE", "f5424201 08030000 00000000 00000000 0000000000000000", "4"},
            {"NATIVE", "f5424201 00000000 00000001 00000000 0000000000000208 20044100 00000000 0000000000000208"
                    + String.join("", Collections.nCopies(65, "0000000000000000")), "40"},
            {"NATIVE", "f5424201 00000000 00000001 00000000 0000000000000018 20040300 00000000 0000000000000018"
                    + "0000000000000000 4000000000000000 0000000000000004", "40"},
        };
        for (String[] each : invalid) {
            BlockException error =
                    assertThrows(each[1], BlockException.class, () -> read(Wire.valueOf(each[0]), hex(each[1])));
            assertEquals(each[1], Long.parseLong(each[2]), error.offset);
        }
    }

    @Test
    public void invalidNestedValuesAreRefused() {
        String[] invalid =
                {"07ffffffff", "087fffffff", "0a7fffffff", "08000000 01ff", "0d", "0901", "0201 00", "ff", "03000000"};
        for (String each : invalid) {
            assertThrows(each, BlockException.class, () -> new Nested(hex(each)).toJava());
        }
        byte[] deep = new byte[300];
        Arrays.fill(deep, (byte) 9);
        assertThrows(BlockException.class, () -> new Nested(deep).toJava());
    }

    @Test
    public void offersThatLieAreFaults() throws IOException {
        String[] paths = {"/dev/shm/typedbytes-1-0", "/proc/self/fd/1", "/proc/1/fd/1\0", "/proc/1/fd/../../etc/passwd",
            "/proc/9999999999/fd/1", "", "\ud800"};
        for (String path : paths) {
            assertThrows(path, BlockException.class, () -> new SharedMemory(offer(path)));
        }
        assertThrows(BlockException.class, () -> new SharedMemory(new Message(Wire.NATIVE, Arrays.asList(A, 1, 2))));
    }

    @Test
    public void filesOfOthersAreNotHarmed() throws IOException {
        Path target = Files.createTempFile("memfd:typedbytes", "");
        try (FileChannel open = FileChannel.open(target, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            open.write(ByteBuffer.allocate(200));
            Path self = Paths.get("/proc/self").toRealPath();
            int noffers = 0;
            for (String name : self.resolve("fd").toFile().list()) {
                Path link = self.resolve("fd").resolve(name);
                if (Files.exists(link) && Files.isSameFile(link, target)) {
                    assertThrows(BlockException.class, () -> new SharedMemory(offer(link.toString())));
                    noffers++;
                }
            }
            assertEquals(1, noffers);
            assertEquals(200, open.size());
        } finally {
            Files.delete(target);
        }
    }

    private static Message offer(String path) {
        return new Message(Wire.NATIVE, Arrays.asList(new Command("share"), path, 100));
    }

    @Test
    public void whatCannotBeWrittenLeavesNothing() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        BlockWriter writer = new BlockWriter(Channels.newChannel(out));
        for (Object value : Arrays.asList(true, 1.5f, new Object(), "\ud800")) {
            assertThrows(IllegalArgumentException.class,
                    () -> writer.write(new Message(Wire.BYTES, Arrays.asList(1, value))));
        }
        assertThrows(IllegalArgumentException.class,
                () -> writer.write(new Message(Wire.TOTAL, Arrays.asList(1, null))));
        for (String text : Arrays.asList("a\r", "a\nb")) {
            assertThrows(IllegalArgumentException.class,
                    () -> writer.write(new Message(Wire.LINE, Arrays.asList(1, new Command(text)))));
        }
        for (String code : Arrays.asList("03", "0b", "ff")) {
            List<Object> values = Arrays.asList(new Nested(hex(code + "00000001")));
            assertThrows(IllegalArgumentException.class, () -> writer.write(new Message(Wire.NATIVE, values)));
        }
        assertThrows(IllegalArgumentException.class,
                () -> new ArrayValue(ArrayValue.Element.I1, new long[65], ByteBuffer.allocate(0)));
        writer.write(new Message(Wire.BYTES, Collections.emptyList()));
        assertArrayEquals(new byte[4], out.toByteArray());
    }

    /** Values that throw, at once or after others, and after many bytes: of the message nothing is left. */
    @Test
    public void whatThrowsWhileItIsWrittenLeavesNothing() throws IOException {
        for (Wire wire : Wire.values()) {
            for (boolean checksum : new boolean[] {false, true}) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                BlockWriter writer = new BlockWriter(Channels.newChannel(out), checksum);
                for (Object first : Arrays.<Object>asList("x", new byte[300_000])) {
                    for (int count : new int[] {0, 1, 2, 100}) {
                        assertThrows(ArithmeticException.class,
                                () -> writer.write(new Message(wire, failingAfter(count, first))));
                    }
                }
                assertFalse(writer.isPartlyWritten());
                writer.write(new Message(wire, PLAIN));
                assertArrayEquals(write(new Message(wire, PLAIN), checksum), out.toByteArray());
            }
        }
        Map<Object, Object> changing = new AbstractMap<Object, Object>() {
            @Override
            public int size() {
                return 2;
            }

            @Override
            public Set<Map.Entry<Object, Object>> entrySet() {
                return Collections.<Object, Object>singletonMap("a", 1).entrySet();
            }
        };
        assertThrows(ConcurrentModificationException.class, () -> Nested.of(changing));
    }

    private static List<Object> failingAfter(int count, Object value) {
        return new AbstractList<Object>() {
            @Override
            public Object get(int index) {
                if (index == count) {
                    throw new ArithmeticException();
                }
                return value;
            }

            @Override
            public int size() {
                return count + 1;
            }
        };
    }

    /** A cast from float to double, or back, sets the quiet bit of a signalling NaN. */
    @Test
    public void everyNanKeepsItsBits() throws IOException {
        int[] floats = {0x7fa00001, 0xffa00001, 0x7f800001, 0x7fc00000, 0x7fffffff, 0xff800000, 0x7f800000, 0x80000000};
        for (int bits : floats) {
            float number = Float.intBitsToFloat(bits);
            byte[] data = write(new Message(Wire.NATIVE, Arrays.asList(number)), false);
            Object found = read(Wire.NATIVE, data).values.get(0);
            assertEquals(bits, Float.floatToRawIntBits((Float) found));
            assertEquals(bits, Float.floatToRawIntBits(Types.narrow(Types.widen(number))));
            found = ((List<?>) Nested.of(Arrays.asList(number)).toJava()).get(0);
            assertEquals(bits, Float.floatToRawIntBits((Float) found));
            ByteBuffer one = ByteBuffer.allocate(4).putInt(0, bits);
            double wide = new ArrayValue(ArrayValue.Element.F4, new long[0], one).toDoubleArray()[0];
            assertEquals(bits, Float.floatToRawIntBits(Types.narrow(wide)));
        }
        for (long bits : new long[] {0x7ff4000000000001L, 0xfff0000000000001L, 0x7ff8000000000000L}) {
            double number = Double.longBitsToDouble(bits);
            for (Object found : Arrays.asList(((List<?>) Nested.of(Arrays.asList(number)).toJava()).get(0),
                    read(Wire.NATIVE, write(new Message(Wire.NATIVE, Arrays.asList(number)), false)).values.get(0))) {
                assertEquals(bits, Double.doubleToRawLongBits((Double) found));
            }
        }
        assertTrue(Float.isNaN(Types.narrow(Double.longBitsToDouble(0x7ff0000000000001L))));    // not infinite
    }

    @Test
    public void aNestedInACollectionIsAWholeValue() throws IOException {
        String[] values = {"07 00000001 61", "08 00000002 01 01 02 01", "09 ff", "09 03 00000001 ff", "64 00000000",
            "0a 00000001 05 00000000 06 0000000000000000", "00 00000000", "04 0000000000000000", "0a 00000000"};
        for (String each : values) {
            List<Object> list = Arrays.asList(1, new Nested(hex(each)), "end");
            List<?> found = (List<?>) Nested.of(list).toJava();
            assertEquals("end", found.get(2));
            byte[] whole = hex(each);
            for (int length = 1; length < whole.length; length++) {
                Nested cut = new Nested(Arrays.copyOf(whole, length));
                assertThrows(each, IllegalArgumentException.class, () -> Nested.of(Arrays.asList(cut)));
            }
            Nested more = new Nested(Arrays.copyOf(whole, whole.length + 1));
            assertThrows(each, IllegalArgumentException.class, () -> Nested.of(Arrays.asList(more)));
        }
        for (String each : Arrays.asList("ff", "0d", "0c", "08 00000001 ff", "0a 00000001 01 01 ff", "08 ffffffff")) {
            assertThrows(each, IllegalArgumentException.class, () -> Nested.of(Arrays.asList(new Nested(hex(each)))));
        }
    }

    @Test
    public void aCollectionHasAsManyLevelsAsAreRead() throws IOException {
        for (Object innermost : new Object[] {new ArrayList<>(), Collections.emptyMap(), new Object[0]}) {
            for (int kind = 0; kind < 3; kind++) {
                Object value = innermost;
                for (int i = 1; i < 256; i++) {
                    value = kind == 0 ? Arrays.asList(value, 1) : kind == 1 ? Collections.singletonMap(1, value)
                            : new Object[] {value, null};
                }
                Nested.of(value).toJava();
                Object deeper = Arrays.asList(value);
                assertThrows(IllegalArgumentException.class, () -> Nested.of(deeper));
                Object scalars = Collections.singletonMap("a", Nested.of(innermost));
                Nested.of(scalars).toJava();
            }
        }
    }

    @Test
    public void nothingFollowsWhatWasTorn() throws IOException {
        byte[] data = hex("00000001 00000009 00000000 00000000");
        BlockReader reader = new BlockReader(Channels.newChannel(new ByteArrayInputStream(data)), Wire.BYTES);
        assertThrows(BlockException.class, reader::read);
        assertThrows(IllegalStateException.class, reader::read);
        int[] capacity = {300_000};
        BlockWriter writer = new BlockWriter(Channels.newChannel(new OutputStream() {
            @Override
            public void write(int next) throws IOException {
                if (capacity[0]-- == 0) {
                    throw new IOException("full");
                }
            }
        }));
        assertThrows(IOException.class, () -> writer.write(new Message(Wire.BYTES, Arrays.asList(new byte[400_000]))));
        assertThrows(IllegalStateException.class, () -> writer.write(new Message(Wire.BYTES, Collections.emptyList())));
        assertThrows(IllegalStateException.class, () -> writer.writeRaw(new byte[1]));
    }
}
