package org.typedbytes.records;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArraySet;
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

    public static class Base<T> {
        private T value;

        public T getValue() {
            return value;
        }

        public Base<T> setValue(T value) {
            this.value = value;
            return this;
        }
    }

    public static class Narrowed extends Base<Integer> {
        private Number number = 0;
        private String text = "";

        @Override
        public Integer getValue() {
            return super.getValue();
        }

        public Integer getNumber() {
            return number.intValue();
        }

        public void setNumber(Number number) {
            this.number = number;
        }

        public String getText() {
            return text;
        }

        public void setText(Object text) {
            throw new AssertionError("the other is narrower");
        }

        public void setText(CharSequence text) {
            this.text = text.toString();
        }

        public static void setHashCode(Object ignored) {
        }

        public void setClass(Object ignored) {
        }
    }

    public static class WithSetter extends Base<Integer> {
        @Override
        public WithSetter setValue(Integer value) {
            super.setValue(value);
            return this;
        }
    }

    static class Hidden<T> extends Base<T> {
        @Field(name = "all")
        private List<String> names = new ArrayList<>();

        public List<String> getNames() {
            return names;
        }

        public void setNames(List<String> names) {
            this.names = names;
        }
    }

    public static class Shown extends Hidden<Long> {
    }

    @Test
    public void aSetterMayTakeMoreThanItsGetterGives() throws IOException {
        RecordType<Narrowed> type = RecordType.of(Narrowed.class);
        Narrowed bean = new Narrowed();
        bean.setValue(5);
        bean.setNumber(6);
        bean.setText((CharSequence) "t");
        String value = "07 00000005 76616c7565 ";
        String number = "07 00000006 6e756d626572 03 00000006";
        byte[] data = hex("0a 00000003" + number + "07 00000004 74657874 07 00000001 74" + value + "03 00000005");
        assertArrayEquals(data, type.write(bean));
        Narrowed read = type.read(data);
        assertEquals(Integer.valueOf(5), read.getValue());
        assertEquals(Integer.valueOf(6), read.getNumber());
        assertEquals("t", read.getText());
        assertFails("expected Integer, found LONG 4294967296, which is out of range at offset 15, path .value", type,
                "0a 00000001" + value + "04 0000000100000000");
        WithSetter other = RecordType.of(WithSetter.class).read(hex("0a 00000001" + value + "03 00000005"));
        assertEquals(5, (Object) ((Base<?>) other).getValue());
    }

    /** The compiler gives a public class bridges to the methods of a superclass that is not public. */
    @Test
    public void theFieldsOfASuperclassThatIsNotPublicAreFields() throws IOException {
        RecordType<Shown> type = RecordType.of(Shown.class);
        Shown bean = new Shown();
        bean.setNames(Collections.singletonList("n"));
        bean.setValue(5L);
        byte[] data = hex("0a 00000002 07 00000003 616c6c 09 07 00000001 6e ff"
                + "07 00000005 76616c7565 04 0000000000000005");
        assertArrayEquals(data, type.write(bean));
        assertEquals(Collections.singletonList("n"), type.read(data).getNames());
        assertFails("expected String, found INT 1 at offset 14, path .names[0]", type,
                "0a 00000001 07 00000003 616c6c 09 03 00000001 ff");
    }

    enum WithNull {
        NONE(null), SOME("some");

        @EnumValue
        final String text;

        WithNull(String text) {
            this.text = text;
        }
    }

    public static class Moods {
        public WithNull mood = WithNull.SOME;
        public List<WithNull> others = new ArrayList<>();
    }

    @Test
    public void aNullIsTheConstantWhoseValueIsNull() throws IOException {
        RecordType<WithNull> type = RecordType.of(WithNull.class);
        byte[] none = hex("64 00000004 80024e2e");
        assertArrayEquals(none, type.write(WithNull.NONE));
        assertEquals(WithNull.NONE, type.read(none));
        assertEquals(WithNull.NONE, type.hiveNulls().read(type.hiveNulls().write(WithNull.NONE)));
        assertEquals(WithNull.SOME, type.read(type.write(WithNull.SOME)));
        RecordType<Moods> moods = RecordType.of(Moods.class);
        Moods bean = new Moods();
        bean.mood = WithNull.NONE;
        bean.others = Arrays.asList(WithNull.SOME, WithNull.NONE);
        Moods read = moods.omitNulls().read(moods.omitNulls().write(bean));
        assertEquals(WithNull.NONE, read.mood);
        assertEquals(bean.others, read.others);
        bean.mood = null;
        RecordException error = assertThrows(RecordException.class, () -> moods.write(bean));
        assertEquals("expected WithNull, found null, which is what NONE is written as, at .mood", error.getMessage());
        String both = assertThrows(IllegalArgumentException.class, () -> new RecordType<Optional<WithNull>>() { })
                .getMessage();
        assertEquals("no form for an Optional of WithNull, since NONE is a null, too", both);
        both = assertThrows(IllegalArgumentException.class, () -> new RecordType<Optional<Optional<Integer>>>() { })
                .getMessage();
        assertEquals("no form for an Optional of Integer, since Optional.empty is a null, too", both);
    }

    enum OfBytes {
        A;

        @EnumValue
        final byte[] value = {1};
    }

    enum OfBeans {
        A;

        @EnumValue
        final Ordered value = new Ordered();
    }

    enum OfNanos {
        A;

        @EnumValue
        final Instant value = Instant.ofEpochSecond(0, 1);
    }

    enum OfZones {
        A(1), B(2);

        @EnumValue
        final ZonedDateTime value;

        OfZones(int hour) {
            value = ZonedDateTime.of(2026, 5, 1, hour, 0, 0, 0, ZoneId.of("Europe/Paris"));
        }
    }

    enum OfOptionals {
        NONE, ONE;

        @EnumValue
        final Optional<Integer> value = ordinal() == 0 ? Optional.empty() : Optional.of(1);
    }

    @Test
    public void anEnumIsReadByTheValueThatWasWritten() throws IOException {
        String message = ": its value does not equal itself when it is read: a ";
        assertNoForm("OfBytes.A" + message + "byte[]", OfBytes.class);
        assertNoForm("OfBeans.A" + message + Ordered.class.getTypeName(), OfBeans.class);
        assertNoForm("OfNanos.A: expected Instant without a fraction of the unit that is written, found "
                + "1970-01-01T00:00:00.000000001Z", OfNanos.class);
        RecordType<OfZones> zones = RecordType.of(OfZones.class);    // a time is read in UTC
        assertEquals(OfZones.B, zones.read(zones.write(OfZones.B)));
        RecordType<OfOptionals> optionals = RecordType.of(OfOptionals.class);
        for (OfOptionals each : OfOptionals.values()) {
            assertEquals(each, optionals.read(optionals.write(each)));
        }
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

    private static String digits(int count) {
        char[] digits = new char[count];
        Arrays.fill(digits, '7');
        return new String(digits);
    }

    @Test
    public void aNumberThatIsWrittenCanBeRead() throws IOException {
        for (String digits : Arrays.asList(digits(10_000), "-" + digits(9_999))) {
            RecordType<BigInteger> whole = RecordType.of(BigInteger.class);
            assertEquals(new BigInteger(digits), whole.read(whole.write(new BigInteger(digits))));
            RecordType<BigDecimal> decimal = RecordType.of(BigDecimal.class);
            assertEquals(new BigDecimal(digits), decimal.read(decimal.write(new BigDecimal(digits))));
        }
        for (int scale : new int[] {Integer.MAX_VALUE, -Integer.MAX_VALUE, 2_000_000_000, -2_000_000_000}) {
            RecordType<BigDecimal> decimal = RecordType.of(BigDecimal.class);
            BigDecimal value = new BigDecimal(BigInteger.ONE, scale);
            assertEquals(value, decimal.read(decimal.write(value)));
        }
        String limit = " of at most 10000 characters, found one of ";
        assertUnwritten("expected BigInteger" + limit + "10001", BigInteger.class,
                new BigInteger("-" + digits(10_000)));
        assertUnwritten("expected BigDecimal" + limit + "10001", BigDecimal.class,
                new BigDecimal(digits(9_999) + ".7"));
        assertUnwritten("expected BigInteger" + limit + "more than 10000 digits", BigInteger.class,
                BigInteger.ONE.shiftLeft(1 << 30));
        assertUnwritten("expected BigDecimal with an exponent below 2^31, found one of 2147483648", BigDecimal.class,
                new BigDecimal(BigInteger.TEN, -Integer.MAX_VALUE));
        byte[] text = RecordType.of(String.class).write(digits(10_001));
        String message = "expected BigDecimal, found STRING of 10001 characters, more than the 10000 that a number can "
                + "have at offset 0";
        assertEquals(message, assertThrows(RecordException.class, () -> RecordType.of(BigDecimal.class).read(text))
                .getMessage());
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

    private static <T> void assertAlike(RecordType<T> type, byte[] list) {
        String message = assertThrows(RecordException.class, () -> type.read(list)).getMessage();
        assertEquals("more than 256 unequal keys share one hash value at offset 0, path [256]", message);
    }

    private static byte[] longs(long... numbers) {
        ByteBuffer list = ByteBuffer.allocate(2 + 9 * numbers.length).put((byte) 9);
        for (long number : numbers) {
            list.put((byte) 4).putLong(number);
        }
        return list.put((byte) 255).array();
    }

    /** A HashMap has an order for classes that are Comparable by themselves alone. */
    @Test
    public void keysThatAHashMapHasNoOrderForAreLimited() throws IOException {
        long[] days = new long[400];
        for (int i = 0; i < days.length; i++) {    // years whose bits repeat: the hash value compares the repetitions
            int bits = i % 200 | i / 200 << 10;
            days[i] = LocalDate.of(bits | bits << 11 | (bits & 0xff) << 22, 1, 1).toEpochDay();
        }
        assertAlike(new RecordType<Set<LocalDate>>() { }, longs(days));
        long[] micros = new long[300];
        int count = 0;
        for (long day = 0; count < micros.length; day++) {
            for (long high = 0; high < 20_117 && count < micros.length; high++) {
                long nanos = high << 32 | ((LocalDate.ofEpochDay(day).hashCode() ^ 0x1000 ^ high) & 0xffffffffL);
                if (nanos < 86_400_000_000_000L && nanos % 1000 == 0) {
                    micros[count++] = day * 86_400_000_000L + nanos / 1000;
                }
            }
        }
        assertAlike(new RecordType<Set<LocalDateTime>>() { }, longs(micros));
        assertAlike(new RecordType<Set<ZonedDateTime>>() { }, longs(micros));
        assertEquals(300, new RecordType<Set<Instant>>() { }.read(longs(micros)).size());
        ByteBuffer texts = ByteBuffer.allocate(2 + 25 * 300).put((byte) 9);
        for (int number = 0; number < 300; number++) {
            texts.put((byte) 0).putInt(20);
            for (int bit = 0; bit < 10; bit++) {
                texts.put((number >> bit & 1) == 0 ? new byte[] {'a', 'A'} : new byte[] {'B', 'B'});
            }
        }
        assertAlike(new RecordType<Set<ByteBuffer>>() { }, texts.put((byte) 255).array());
        assertEquals(300, new RecordType<Set<byte[]>>() { }.read(texts.array()).size());
        long[] halves = new long[300];
        Arrays.setAll(halves, i -> (long) i << 32 | i);
        assertEquals(300, new RecordType<Set<Long>>() { }.read(longs(halves)).size());
        assertEquals(300, new RecordType<TreeSet<LocalDateTime>>() { }.read(longs(micros)).size());
        assertAlike(new RecordType<CopyOnWriteArraySet<Long>>() { }, longs(halves));
    }

    @Test
    public void keysOfAMapWithoutTreesAreLimited() throws IOException {
        ByteBuffer pairs = ByteBuffer.allocate(5 + 11 * 300).put((byte) 10).putInt(300);
        for (long number = 0; number < 300; number++) {
            pairs.put((byte) 4).putLong(number << 32 | number).put((byte) 2).put((byte) 1);
        }
        assertEquals(300, new RecordType<ConcurrentHashMap<Long, Boolean>>() { }.read(pairs.array()).size());
        assertEquals(300, new RecordType<TreeMap<Long, Boolean>>() { }.read(pairs.array()).size());
        assertEquals(300, new RecordType<IdentityHashMap<Long, Boolean>>() { }.read(pairs.array()).size());
        for (RecordType<?> type : Arrays.<RecordType<?>>asList(new RecordType<Hashtable<Long, Boolean>>() { },
                new RecordType<WeakHashMap<Long, Boolean>>() { })) {
            String message = assertThrows(RecordException.class, () -> type.read(pairs.array())).getMessage();
            assertEquals("more than 256 unequal keys share one hash value at offset 0, path [1099511628032]", message);
        }
    }

    @Test
    public void theCountOfAMapIsThatOfItsPairs() {
        Map<String, Integer> changing = new AbstractMap<String, Integer>() {
            @Override
            public int size() {
                return 2;
            }

            @Override
            public Set<Map.Entry<String, Integer>> entrySet() {
                return Collections.singletonMap("a", 1).entrySet();
            }
        };
        RecordException error = assertThrows(RecordException.class,
                () -> new RecordType<Map<String, Integer>>() { }.write(changing));
        assertEquals("the Map has changed while it was written", error.getMessage());
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
