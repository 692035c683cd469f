package org.typedbytes.records;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.TimeUnit;
import org.junit.Test;

/** Beans both ways, what cannot be a form, and what becomes of bad bytes. Java records and all types: tests/records. */
public class RecordsTest {
    /** A bean with everything that a bean may have. */
    public static class Bean {
        public int number = 7;
        public transient Thread ignored;
        @Field(name = "the_name")
        private String name;
        private List<Bean> parts = new ArrayList<>();
        private Optional<Long> size = Optional.empty();

        public String getName() {
            return name;
        }

        public Bean setName(String name) {
            this.name = name;
            return this;
        }

        public List<Bean> getParts() {
            return parts;
        }

        public void setParts(List<Bean> parts) {
            this.parts = parts;
        }

        public Optional<Long> getSize() {
            return size;
        }

        public void setSize(Optional<Long> size) {
            this.size = size;
        }

        public String getComputed() {
            throw new AssertionError("not a field");
        }
    }

    @AsVector
    @FieldOrder({"b", "a"})
    public static class Ordered {
        public byte a;
        public boolean b;
    }

    public static class Holder<T> {
        public T held;
    }

    public static class Fussy {
        public void setNumber(int number) {
            throw new IllegalArgumentException("a number");
        }

        public int getNumber() {
            return 5;
        }
    }

    private static byte[] hex(String digits) {
        String plain = digits.replace(" ", "");
        byte[] data = new byte[plain.length() / 2];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) Integer.parseInt(plain.substring(2 * i, 2 * i + 2), 16);
        }
        return data;
    }

    private static void assertFails(String message, RecordType<?> type, String digits) {
        assertEquals(message, assertThrows(RecordException.class, () -> type.read(hex(digits))).getMessage());
    }

    private static void assertNoForm(String message, Class<?> type) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, () -> RecordType.of(type)).getMessage());
    }

    @Test
    public void aBeanIsAMapOfItsFieldsInTheOrderOfTheirNames() throws IOException {
        Bean bean = new Bean().setName("ab");
        bean.parts.add(new Bean());
        RecordType<Bean> type = RecordType.of(Bean.class);
        String none = "64 00000004 80024e2e";
        String name = "07 00000008 7468655f6e616d65";
        String number = "07 00000006 6e756d626572 03 00000007";
        String parts = "07 00000005 7061727473 09";
        String size = "07 00000004 73697a65";
        String inner = "0a 00000004" + name + none + number + parts + "ff" + size + none;
        String outer = "0a 00000004" + name + "07 00000002 6162" + number + parts + inner + "ff" + size + none;
        assertArrayEquals(hex(outer), type.write(bean));
        Bean read = type.read(hex(outer));
        assertEquals("ab", read.name);
        assertEquals(Optional.empty(), read.size);
        assertNull(read.parts.get(0).name);
        ByteArrayOutputStream target = new ByteArrayOutputStream();
        type.omitNulls().write(bean, target);
        String omitted = "0a 00000003" + name + "07 00000002 6162" + number + parts + "0a 00000002" + number + parts
                + "ff ff";
        assertArrayEquals(hex(omitted), target.toByteArray());
        assertArrayEquals(hex(outer.replace(none, "0c")), type.hiveNulls().write(bean));
        assertNull(type.read(hex(outer.replace(none, "0c"))).parts.get(0).name);
    }

    @Test
    public void aMissingFieldKeepsWhatTheConstructorGaveIt() throws IOException {
        Bean bean = RecordType.of(Bean.class)
                .read(hex("0a 00000002 03 00000001 09 08 00000000 ff 07 00000003 787878 0a 00000000"));
        assertEquals(7, bean.number);
        assertEquals(Collections.emptyList(), bean.parts);
    }

    @Test
    public void anOrderMakesAVector() throws IOException {
        RecordType<Ordered> type = RecordType.of(Ordered.class);
        Ordered read = type.read(hex("08 00000002 02 01 01 7f"));
        assertEquals(127, read.a);
        assertTrue(read.b);
        assertArrayEquals(hex("08 00000002 02 01 01 7f"), type.write(read));
        assertTrue(type.read(hex("0a 00000001 07 00000001 62 02 05")).b);
        assertTrue(type.read(hex("09 02 01 ff")).b);
        assertFails("Ordered: expected 0 to 2 items, found 3 at offset 0", type, "08 00000003 02 01 02 01 02 01");
    }

    @Test
    public void typeParametersAreKnown() throws IOException {
        RecordType<Holder<List<LocalDate>>> type = new RecordType<Holder<List<LocalDate>>>() { };
        byte[] data = hex("0a 00000001 07 00000004 68656c64 09 03 00000001 ff");
        assertEquals(Collections.singletonList(LocalDate.of(1970, 1, 2)), type.read(data).held);
        assertArrayEquals(data, type.write(type.read(data)));
        assertThrows(IllegalArgumentException.class, RecordType::new);
    }

    @Test
    public void anObjectIsWhatItsTypeCodeSays() throws IOException {
        RecordType<Object> type = RecordType.of(Object.class);
        byte[] data =
                hex("09 01 05 02 01 03 00000001 04 0000000000000001 05 3f800000 06 3ff0000000000000 07 00000001 61"
                + "0a 00000001 03 00000001 09 ff ff");
        List<Object> found = Arrays.asList((byte) 5, true, 1, 1L, 1f, 1.0, "a",
                Collections.singletonMap(1, Collections.emptyList()));
        assertEquals(found, type.read(data));
        assertArrayEquals(data, type.write(type.read(data)));
        assertArrayEquals(hex("03 00000001"), type.write(LocalDate.of(1970, 1, 2)));
        assertArrayEquals(hex("07 00000007 5345434f4e4453"), type.write(TimeUnit.SECONDS));
        assertArrayEquals(hex("00 00000001 61"), type.write(ByteBuffer.wrap(hex("61"))));
        String message = assertThrows(RecordException.class, () -> type.write(Arrays.asList(1, new Thread())))
                .getMessage();
        assertEquals("no form for java.lang.Thread, at [1]", message);
        assertThrows(RecordException.class, () -> type.write(new Object()));
        for (int i = 0; i < 101; i++) {
            message = assertThrows(RecordException.class, () -> type.write(new Holds())).getMessage();
            assertEquals("Holds.held: no form for char", message);
        }
        assertArrayEquals(hex("08 00000002 02 00 01 00"), type.write(new Ordered()));
    }

    @Test
    public void aBufferIsReadValueByValue() throws IOException {
        RecordType<Integer> type = RecordType.of(int.class);
        ByteBuffer data = ByteBuffer.wrap(hex("ff 03 00000001 03 00000002 03 0000"));
        data.position(1);
        assertEquals(1, (int) type.read(data));
        assertEquals(2, (int) type.read(data));
        RecordException error = assertThrows(RecordException.class, () -> type.read(data));
        assertEquals("input ends inside INT: at least 2 more bytes needed at offset 14", error.getMessage());
        assertEquals(14, error.offset());
        assertEquals(11, data.position());
        assertFails("2 bytes after the value at offset 5", type, "03 00000001 0305");
    }

    public static class Broken {
        public int number = Integer.parseInt("x");
    }

    @Test
    public void whatHasNoForm() {
        assertNoForm(Broken.class.getName() + ": java.lang.NumberFormatException: For input string: \"x\"",
                Broken.class);
        assertNoForm("no form for java.lang.Thread", Thread.class);
        assertNoForm("no form for java.util.concurrent.Callable", java.util.concurrent.Callable.class);
        assertNoForm("no form for java.util.EnumMap: it has no constructor without parameters", EnumMap.class);
        assertNoForm("Holds.held: no form for char", Holds.class);
        assertNoForm("BadUnit.time: the unit is MINUTES; expected SECONDS, MILLISECONDS or MICROSECONDS",
                BadUnit.class);
        assertNoForm("Unordered: @AsVector needs a Java record, or a @FieldOrder", Unordered.class);
        assertNoForm("Misordered: the @FieldOrder is [a, c], the fields are [a, b]", Misordered.class);
        assertNoForm("Final.number: a final field cannot be read", Final.class);
        assertNoForm("two fields of Twice have the name \"a\"", Twice.class);
        String message = assertThrows(IllegalArgumentException.class, () -> new RecordType<Endless<Integer>>() { })
                .getMessage();
        assertTrue(message, message.endsWith(": record classes nest deeper than 100"));
    }

    public static class Holds {
        public char held;
    }

    public static class BadUnit {
        @Field(unit = TimeUnit.MINUTES)
        public Instant time;
    }

    @AsVector
    public static class Unordered {
        public int a;
    }

    @FieldOrder({"a", "c"})
    public static class Misordered {
        public int a;
        public int b;
    }

    public static class Final {
        public final int number = Integer.parseInt("1");
    }

    public static class Twice {
        public int a;
        @Field(name = "a")
        public int b;
    }

    public static class Endless<T> {
        public Endless<List<T>> more;
    }

    @Test
    public void whatAClassThrowsHasItsPlace() throws IOException {
        RecordType<Fussy> type = RecordType.of(Fussy.class);
        byte[] data = hex("09 0a 00000001 07 00000006 6e756d626572 03 00000001 ff");
        RecordException error = assertThrows(RecordException.class, () -> new RecordType<List<Fussy>>() { }.read(data));
        assertEquals("Fussy: java.lang.IllegalArgumentException: a number at offset 1, path [0]", error.getMessage());
        assertEquals("[0]", error.path());
        assertEquals(IllegalArgumentException.class, error.getCause().getClass());
        assertArrayEquals(hex("0a 00000001 07 00000006 6e756d626572 03 00000005"), type.write(new Fussy()));
        RecordType<SortedSet<String>> sorted = new RecordType<SortedSet<String>>() { };
        error = assertThrows(RecordException.class, () -> sorted.read(hex("09 07 00000000 0c ff")));
        assertTrue(error.getMessage(), error.getMessage().startsWith("SortedSet: java.lang.NullPointerException"));
        assertEquals("[1]", error.path());
    }

    private static <T> void assertUnwritten(String message, Class<T> type, T value) {
        assertEquals(message, assertThrows(RecordException.class, () -> RecordType.of(type).write(value)).getMessage());
    }

    @Test
    public void whatCannotBeWritten() {
        String fraction = " without a fraction of the unit that is written, found ";
        String range = " within the range of what is written, found ";
        assertUnwritten("expected Instant" + fraction + "1970-01-01T00:00:00.000000001Z", Instant.class,
                Instant.ofEpochSecond(0, 1));
        assertUnwritten("expected LocalDate" + range + "+999999999-12-31", LocalDate.class, LocalDate.MAX);
        assertUnwritten("expected Duration" + range + "PT2562047788015215H30M7S", Duration.class,
                Duration.ofSeconds(Long.MAX_VALUE));
        RecordType<Map<String, List<String>>> type = new RecordType<Map<String, List<String>>>() { };
        RecordException error = assertThrows(RecordException.class,
                () -> type.write(Collections.singletonMap("k", Arrays.asList("", "\ud800"))));
        assertEquals("text has an unpaired surrogate, which UTF-8 cannot encode, at [\"k\"][1]", error.getMessage());
        assertEquals(-1, error.offset());
        Bean bean = new Bean();
        bean.parts.add(bean);
        assertTrue(assertThrows(RecordException.class, () -> RecordType.of(Bean.class).write(bean)).getMessage()
                .startsWith("containers nest deeper than 256, at .parts[0].parts[0]"));
    }

    @Test
    public void aNumberIsTheSameInAnyLocale() throws IOException {
        Locale usual = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
        try {
            assertFails("expected int, found STRING \"\\u00e9\" at offset 0", RecordType.of(int.class),
                    "07 00000002 c3a9");
            byte[] data = RecordType.of(Texts.class).write(new Texts());
            assertTrue(new String(data, StandardCharsets.UTF_8).endsWith("1970-01-01T00:00:00.000001"));
        } finally {
            Locale.setDefault(usual);
        }
    }

    public static class Texts {
        @Field(text = true)
        public LocalDateTime time = LocalDateTime.of(1970, 1, 1, 0, 0, 0, 1000);
    }

    // ---- bad bytes

    @Test
    public void everyCutIsSeen() throws IOException {
        RecordType<List<Bean>> type = new RecordType<List<Bean>>() { };
        Bean bean = new Bean().setName("naïve");
        bean.size = Optional.of(5L);
        bean.parts = Arrays.asList(new Bean(), new Bean());
        byte[] data = type.write(Arrays.asList(bean, bean));
        for (int length = 0; length < data.length; length++) {
            byte[] cut = Arrays.copyOf(data, length);
            RecordException error = assertThrows(RecordException.class, () -> type.read(cut));
            assertTrue(error.getMessage(), error.getMessage().startsWith("input ends "));
            assertThrows(RecordException.class, () -> RecordType.of(Object.class).read(cut));
        }
    }

    @Test
    public void declaredSizesCostNothing() {
        for (Class<?> type : Arrays.<Class<?>>asList(Object.class, Bean.class, Ordered.class, int.class, int[].class,
                byte[].class, List.class, Map.class, Set.class, String.class)) {
            for (String start : Arrays.asList("00", "07", "08", "0a", "64", "65", "c8", "09 08", "09 0a")) {
                for (String size : Arrays.asList("7fffffff", "ffffffff", "80000000", "7fffffff 0000000000")) {
                    assertThrows(RecordException.class, () -> RecordType.of(type).read(hex(start + size)));
                }
            }
        }
    }

    @Test
    public void depthIsLimited() throws IOException {
        for (Class<?> type : Arrays.<Class<?>>asList(Object.class, Bean.class)) {
            String start = type == Bean.class ? "0a 00000001 07 00000001 78" : "";
            byte[] deep = new byte[1_000_000];
            Arrays.fill(deep, (byte) 9);
            byte[] head = hex(start);
            System.arraycopy(head, 0, deep, 0, head.length);
            RecordException error = assertThrows(RecordException.class, () -> RecordType.of(type).read(deep));
            assertTrue(error.getMessage(), error.getMessage().startsWith("containers nest deeper than 256 at offset "));
        }
    }

    @Test
    public void keysOfOneHashValueAreLimited() {
        StringBuilder items = new StringBuilder("09");
        for (int number = 0; number < 1 << 14; number++) {    // lists of one hash value: 31 * 0 + 31 is 31 * 1 + 0
            items.append("09");
            for (int bit = 0; bit < 14; bit++) {
                items.append((number >> bit & 1) == 0 ? "01000 11f" : "01010 100");
            }
            items.append("ff");
        }
        RecordType<Set<List<Integer>>> type = new RecordType<Set<List<Integer>>>() { };
        assertFails("more than 256 unequal keys share one hash value at offset 0, path [256]", type, items + "ff");
    }

    @Test
    public void whatIsNoValue() {
        RecordType<?> type = RecordType.of(Object.class);
        assertFails("unknown type code 14 at offset 1, path [0]", type, "09 0e ff");
        assertFails("MARKER outside a LIST at offset 0", type, "ff");
        assertFails("MARKER outside a LIST at offset 5, path [0]", type, "08 00000001 ff");
        assertFails("negative length or count -1 of MAP at offset 0", type, "0a ffffffff");
        assertFails("STRING is not valid UTF-8 at offset 0", type, "07 00000001 ff");
        assertFails("expected Object, found NDARRAY at offset 0", type, "66 00000000");
        String pickle = "expected Object, found PICKLE, and of Python's pickles only None can be read here at offset 0";
        assertFails(pickle, type, "64 00000001 2e");
    }
}
