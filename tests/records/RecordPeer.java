import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.UUID;
import java.util.stream.Collectors;
import org.typedbytes.records.AsVector;
import org.typedbytes.records.EnumValue;
import org.typedbytes.records.Field;
import org.typedbytes.records.FieldOrder;
import org.typedbytes.records.RecordException;
import org.typedbytes.records.RecordType;

/**
 * Reads values of Java types, says what they are, and writes them again.
 *
 * <p>A line of standard input is a type's name, the options ("l" lenient, "o" omits nulls, "h" Hive's nulls, "-" none)
 * and bytes as hexadecimal digits; the answer is the value and its bytes, or "!" and the error.
 */
public final class RecordPeer {
    enum Colour {
        RED(1), GREEN(2);

        @EnumValue
        final int number;

        Colour(int number) {
            this.number = number;
        }
    }

    enum Mood { GOOD, BAD }

    @AsVector
    record Visit(String user, LocalDateTime at, long ms, Optional<BigDecimal> price) { }

    record Page(String url, List<Visit> visits, @Field(name = "all_tags", optional = true) Set<String> tags) { }

    record Pair<A, B>(A first, B second) { }

    record Tree(String name, List<Tree> children) { }

    record Forms(@Field(unit = SECONDS) Instant seconds, @Field(unit = MILLISECONDS) LocalDateTime millis,
            @Field(text = true) LocalDate day, @Field(text = true) LocalTime time,
            @Field(text = true) LocalDateTime local, @Field(text = true) Instant instant,
            @Field(text = true) OffsetDateTime offset, @Field(text = true) Duration duration,
            @Field(text = true) UUID id, @Field(text = true) Colour colour,
            @Field(unit = MILLISECONDS) List<Duration> waits, @Field(narrow = true) long number) { }

    record Positive(int number) {
        Positive {
            if (number <= 0) {
                throw new IllegalArgumentException("not positive: " + number);
            }
        }
    }

    public static class Base<T> {
        private T id;

        public T getId() {
            return id;
        }

        public void setId(T id) {
            this.id = id;
        }
    }

    /** A bean, with a public field, a default, a name and a value that is computed. */
    public static class Customer extends Base<Long> {
        public String city = "Rome";
        @Field(name = "full_name")
        private String name;
        private boolean active;

        public String getName() {
            return name;
        }

        public void setName(String name) {
            this.name = name;
        }

        public boolean isActive() {
            return active;
        }

        public void setActive(boolean active) {
            this.active = active;
        }

        public int getLength() {
            return name.length();
        }

        @Override
        public String toString() {
            return "Customer[" + getId() + ", " + city + ", " + name + ", " + active + "]";
        }
    }

    @AsVector
    @FieldOrder({"y", "x"})
    public static class Point {
        public double x;
        public double y = -1;

        @Override
        public String toString() {
            return "Point[x=" + x + ", y=" + y + "]";
        }
    }

    private static final Map<String, RecordType<?>> TYPES = new LinkedHashMap<>();

    static {
        for (Class<?> type : List.of(boolean.class, byte.class, short.class, int.class, long.class, float.class,
                double.class, Boolean.class, Byte.class, Short.class, Integer.class, Long.class, Float.class,
                Double.class, String.class, byte[].class, ByteBuffer.class, BigInteger.class, BigDecimal.class,
                UUID.class, LocalDate.class, LocalTime.class, LocalDateTime.class, Instant.class, OffsetDateTime.class,
                ZonedDateTime.class, Duration.class, Object.class, Colour.class, Mood.class, int[].class,
                float[].class, String[].class, double[][].class, Visit.class, Page.class, Tree.class, Forms.class,
                Positive.class, Customer.class, Point.class)) {
            TYPES.put(type.getSimpleName(), RecordType.of(type));
        }
        TYPES.put("List<Integer>", new RecordType<List<Integer>>() { });
        TYPES.put("List<Page>", new RecordType<List<Page>>() { });
        TYPES.put("Set<List<Integer>>", new RecordType<Set<List<Integer>>>() { });
        TYPES.put("SortedSet<String>", new RecordType<SortedSet<String>>() { });
        TYPES.put("Deque<Byte>", new RecordType<Deque<Byte>>() { });
        TYPES.put("Map<String,Long>", new RecordType<Map<String, Long>>() { });
        TYPES.put("Map<Object,Object>", new RecordType<Map<Object, Object>>() { });
        TYPES.put("SortedMap<Integer,Visit>", new RecordType<SortedMap<Integer, Visit>>() { });
        TYPES.put("Optional<Integer>", new RecordType<Optional<Integer>>() { });
        TYPES.put("Pair<String,List<Long>>", new RecordType<Pair<String, List<Long>>>() { });
    }

    private RecordPeer() {
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        in.lines().forEach(line -> out.print(answer(line.split(" ", -1)).replace('\n', ' ') + "\n"));
        out.flush();
    }

    private static String answer(String[] line) {
        try {
            return answer(TYPES.get(line[0]), line[1], HexFormat.of().parseHex(line[2]));
        } catch (RecordException error) {
            return "! " + error.getMessage();
        } catch (Throwable error) {
            return "!! " + error;
        }
    }

    private static <T> String answer(RecordType<T> usual, String options, byte[] data) throws RecordException {
        RecordType<T> type = options.contains("l") ? usual.lenient() : usual;
        type = options.contains("o") ? type.omitNulls() : type;
        type = options.contains("h") ? type.hiveNulls() : type;
        T value = type.read(data);
        return shown(value) + " | " + HexFormat.of().formatHex(type.write(value));
    }

    private static String shown(Object value) {
        if (value instanceof byte[] bytes) {
            return HexFormat.of().formatHex(bytes);
        } else if (value instanceof ByteBuffer bytes) {
            return "buffer " + HexFormat.of().formatHex(bytes.array());
        } else if (value instanceof ArrayDeque<?> || value instanceof SortedMap<?, ?>
                || value instanceof SortedSet<?>) {
            return value.getClass().getSimpleName() + " " + value;
        } else if (value != null && value.getClass().isArray()) {
            return java.util.stream.IntStream.range(0, Array.getLength(value)).mapToObj(i -> shown(Array.get(value, i)))
                    .collect(Collectors.joining(", ", "{", "}"));
        }
        return String.valueOf(value);
    }
}
