package org.typedbytes.records;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Dates, times and durations: as numbers, or as ISO 8601 text. */
final class Times<T> extends Form {
    private static final String DATE = "(?!0000)\\d{4}-\\d\\d-\\d\\d";
    private static final String CLOCK = "\\d\\d:\\d\\d(?::\\d\\d)?";
    private static final Pattern TIME = Pattern.compile(
            "(?:(" + DATE + ")[Tt ])?(" + CLOCK + ")(?:(?<=:..:..)(\\.\\d{1,6})0*)?([Zz]|[-+]\\d\\d:?\\d\\d)?");

    private final boolean isOrdered;
    private final boolean isText;
    private final LongFunction<T> fromNumber;
    private final ToLongFunction<T> toNumber;
    private final Function<String, T> fromText;
    private final Function<T, String> toText;

    private Times(Class<T> type, Field options, LongFunction<T> fromNumber, ToLongFunction<T> toNumber,
            Function<String, T> fromText, Function<T, String> toText) {
        super(type.getSimpleName());
        this.isOrdered = isOrderedByHashMaps(type);
        this.isText = options.text();
        this.fromNumber = fromNumber;
        this.toNumber = toNumber;
        this.fromText = fromText;
        this.toText = toText;
    }

    /** The form of a type; null: it is none of these. */
    static Form of(Class<?> type, Field options) {
        if (type == LocalDate.class) {
            return new Times<>(LocalDate.class, options, LocalDate::ofEpochDay,
                    date -> Math.toIntExact(date.toEpochDay()), LocalDate::parse, Times::text);
        } else if (type == LocalTime.class) {
            return scaled(LocalTime.class, options,
                    time -> LocalTime.ofSecondOfDay(time.getEpochSecond()).withNano(time.getNano()),
                    time -> Instant.ofEpochSecond(time.toSecondOfDay(), time.getNano()), LocalTime::parse, Times::text);
        } else if (type == LocalDateTime.class) {
            return scaled(LocalDateTime.class, options, time -> LocalDateTime.ofInstant(time, ZoneOffset.UTC),
                    time -> time.toInstant(ZoneOffset.UTC), LocalDateTime::parse, Times::text);
        } else if (type == Instant.class) {
            return scaled(Instant.class, options, time -> time, time -> time,
                    text -> OffsetDateTime.parse(text).toInstant(), Times::text);
        } else if (type == OffsetDateTime.class) {
            return scaled(OffsetDateTime.class, options, time -> time.atOffset(ZoneOffset.UTC),
                    OffsetDateTime::toInstant, OffsetDateTime::parse, time -> text(time.toInstant()));
        } else if (type == ZonedDateTime.class) {
            return scaled(ZonedDateTime.class, options, time -> time.atZone(ZoneOffset.UTC), ZonedDateTime::toInstant,
                    ZonedDateTime::parse, time -> text(time.toInstant()));
        } else if (type == Duration.class) {
            return scaled(Duration.class, options, time -> Duration.ofSeconds(time.getEpochSecond(), time.getNano()),
                    time -> Instant.ofEpochSecond(time.getSeconds(), time.getNano()), Duration::parse, Times::text);
        }
        return null;
    }

    /** The form of a type whose numbers count units from 1970, midnight or nothing, as an Instant does. */
    private static <T> Times<T> scaled(Class<T> type, Field options, Function<Instant, T> from, Function<T, Instant> to,
            Function<String, T> fromText, Function<T, String> toText) {
        long units = options.unit().convert(1, TimeUnit.SECONDS);
        long nanos = options.unit().toNanos(1);
        if (units < 1 || nanos < 1000) {
            throw new IllegalArgumentException("the unit is " + options.unit()
                    + "; expected SECONDS, MILLISECONDS or MICROSECONDS");
        }
        return new Times<>(type, options,
                n -> from.apply(Instant.ofEpochSecond(Math.floorDiv(n, units), Math.floorMod(n, units) * nanos)),
                value -> {
                    Instant time = to.apply(value);
                    long rest = whole(time.getNano(), nanos);
                    long carried = time.getEpochSecond() < 0 ? 1 : 0;    // else the least number would not fit
                    long seconds = time.getEpochSecond() + carried;
                    return Math.addExact(Math.multiplyExact(seconds, units), rest - carried * units);
                }, fromText, toText);
    }

    @Override
    boolean isOrdered() {
        return isOrdered;
    }

    @Override
    Object read(ValueReader in) throws RecordException {
        try {
            if (in.code == Code.STRING) {
                return fromText.apply(canonical(in.text()));
            } else if (!in.isInteger()) {
                throw in.misfit();
            }
            return fromNumber.apply(in.integer(Long.MIN_VALUE, Long.MAX_VALUE));
        } catch (DateTimeException error) {
            throw in.misfit(in.code == Code.STRING ? "" : ", which is out of range");
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    void write(ValueWriter out, Object value) throws RecordException {
        try {
            if (isText) {
                out.text(toText.apply((T) value));
            } else {
                out.integer(toNumber.applyAsLong((T) value), value instanceof LocalDate);
            }
        } catch (DateTimeException | ArithmeticException error) {
            throw ValueWriter.error("expected " + name + " within the range of what is written, found " + value, error);
        } catch (IllegalArgumentException error) {
            String expected = "expected " + name + " without a fraction of the unit that is written";
            throw ValueWriter.error(expected + ", found " + value, error);
        }
    }

    /** The text as Java's own parsers expect it; they refuse that of another type. */
    private static String canonical(String text) {
        Matcher parts = TIME.matcher(text);
        if (!parts.matches()) {
            return text.matches(DATE + "|[-+]?P.*") ? text : "";
        }
        String offset = parts.group(4) == null ? "" : parts.group(4).toUpperCase(Locale.ROOT);
        return (parts.group(1) == null ? "" : parts.group(1) + "T") + parts.group(2)
                + (parts.group(3) == null ? "" : parts.group(3))
                + (offset.length() == 5 ? offset.substring(0, 3) + ":" + offset.substring(3) : offset);
    }

    // ---- text, in Python's spelling

    private static String text(LocalDate date) {
        if (date.getYear() < 1 || date.getYear() > 9999) {
            throw new ArithmeticException();
        }
        return date.toString();
    }

    private static String text(LocalTime time) {
        long micros = whole(time.getNano(), 1000);
        return String.format(Locale.ROOT, "%02d:%02d:%02d", time.getHour(), time.getMinute(), time.getSecond())
                + (micros == 0 ? "" : String.format(Locale.ROOT, ".%06d", micros));
    }

    private static String text(LocalDateTime time) {
        return text(time.toLocalDate()) + "T" + text(time.toLocalTime());
    }

    private static String text(Instant time) {
        return text(LocalDateTime.ofInstant(time, ZoneOffset.UTC)) + "Z";
    }

    private static String text(Duration duration) {
        whole(duration.getNano(), 1000);
        Duration size = duration.abs();
        Duration rest = size.minusDays(size.toDays());
        String seconds = BigDecimal.valueOf(rest.toNanos(), 9).stripTrailingZeros().toPlainString();
        return (duration.isNegative() ? "-P" : "P") + size.toDays() + "D" + (rest.isZero() ? "" : "T" + seconds + "S");
    }

    private static long whole(long nanos, long unit) {
        if (nanos % unit != 0) {
            throw new IllegalArgumentException("not a whole number of units");
        }
        return nanos / unit;
    }
}
