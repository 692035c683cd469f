package org.typedbytes.records;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.regex.Pattern;

/** Values without a part: the types of the format, numbers of any size, and a UUID. */
final class Scalar extends Form {
    interface Reading {
        Object read(ValueReader in) throws RecordException;
    }

    interface Writing<T> {
        void write(ValueWriter out, T value) throws RecordException;
    }

    private static final Pattern UUID_TEXT =
            Pattern.compile("\\p{XDigit}{32}|\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}");

    /** Numbers of more bits have more digits than are read. */
    private static final int MAX_BITS = BigInteger.TEN.pow(ValueReader.MAX_NUMBER_LENGTH).bitLength();

    private final Class<?> type;
    private final boolean isOrdered;
    private final Reading reading;
    private final Writing<Object> writing;

    @SuppressWarnings("unchecked")
    private <T> Scalar(Class<?> type, Reading reading, Writing<T> writing) {
        super(type.getSimpleName());
        this.type = type;
        this.isOrdered = type.isArray() || isOrderedByHashMaps(type);    // each array is a key of its own
        this.reading = reading;
        this.writing = (Writing<Object>) writing;
    }

    @Override
    boolean isOrdered() {
        return isOrdered;
    }

    @Override
    Object read(ValueReader in) throws RecordException {
        return reading.read(in);
    }

    @Override
    void write(ValueWriter out, Object value) throws RecordException {
        writing.write(out, value);
    }

    @Override
    Object ofNull(ValueReader in) throws RecordException {
        if (type.isPrimitive()) {
            throw in.misfit();
        }
        return null;
    }

    @Override
    boolean takesText() {
        return type == String.class;
    }

    /** The form of a type; null: it is none of these. */
    static Form of(Class<?> type, Field options) {
        if (type == boolean.class || type == Boolean.class) {
            return new Scalar(type, ValueReader::bool,
                    (ValueWriter out, Boolean value) -> out.start(Code.BOOL, 1).put((byte) (value ? 1 : 0)));
        } else if (type == byte.class || type == Byte.class) {
            return new Scalar(type, in -> (byte) in.integer(Byte.MIN_VALUE, Byte.MAX_VALUE),
                    (ValueWriter out, Byte value) -> out.start(Code.BYTE, 1).put(value));
        } else if (type == short.class || type == Short.class) {
            return new Scalar(type, in -> (short) in.integer(Short.MIN_VALUE, Short.MAX_VALUE),
                    (ValueWriter out, Short value) -> out.integer(value, true));
        } else if (type == int.class || type == Integer.class) {
            return new Scalar(type, in -> (int) in.integer(Integer.MIN_VALUE, Integer.MAX_VALUE),
                    (ValueWriter out, Integer value) -> out.integer(value, true));
        } else if (type == long.class || type == Long.class) {
            return new Scalar(type, in -> in.integer(Long.MIN_VALUE, Long.MAX_VALUE),
                    (ValueWriter out, Long value) -> out.integer(value, options.narrow()));
        } else if (type == float.class || type == Float.class) {
            return new Scalar(type, Scalar::toFloat,
                    (ValueWriter out, Float value) -> out.start(Code.FLOAT, 4).putFloat(value));
        } else if (type == double.class || type == Double.class) {
            return new Scalar(type, ValueReader::number,
                    (ValueWriter out, Double value) -> out.start(Code.DOUBLE, 8).putDouble(value));
        } else if (type == String.class) {
            return new Scalar(type, ValueReader::text, ValueWriter::text);
        } else if (type == byte[].class) {
            return new Scalar(type, Scalar::toBytes,
                    (ValueWriter out, byte[] value) -> out.bytes(Code.BYTES, ByteBuffer.wrap(value)));
        } else if (type == ByteBuffer.class) {
            return new Scalar(type, in -> ByteBuffer.wrap(toBytes(in)),
                    (ValueWriter out, ByteBuffer value) -> out.bytes(Code.BYTES, value.duplicate()));
        } else if (type == BigInteger.class) {
            return new Scalar(type, in -> in.code == Code.STRING ? new BigInteger(in.number(ValueReader.INTEGER))
                    : BigInteger.valueOf(in.integer(Long.MIN_VALUE, Long.MAX_VALUE)),
                    (ValueWriter out, BigInteger value) -> writeNumber(out, value, value));
        } else if (type == BigDecimal.class) {
            return new Scalar(type, Scalar::toDecimal, (ValueWriter out, BigDecimal value) ->
                    writeNumber(out, value, value.unscaledValue()));
        } else if (type == UUID.class) {
            return new Scalar(type, Scalar::toUuid, (ValueWriter out, UUID value) -> {
                if (options.text()) {
                    out.text(value.toString());
                } else {
                    out.start(Code.BYTES, 20).putInt(16).putLong(value.getMostSignificantBits())
                            .putLong(value.getLeastSignificantBits());
                }
            });
        }
        return null;
    }

    private static Object toFloat(ValueReader in) throws RecordException {
        double number = in.number();
        if (Float.isInfinite((float) number) && !Double.isInfinite(number)) {
            throw in.misfit(", which is out of range");
        }
        return Floats.narrow(number);
    }

    /** Writes the text of a number, unless it could not be read again. */
    private static void writeNumber(ValueWriter out, Number value, BigInteger digits) throws RecordException {
        String problem = null;
        // The bits are counted first, since a number of very many digits takes long to convert.
        String text = digits.bitLength() > MAX_BITS ? null : value.toString();
        if (text == null || text.length() > ValueReader.MAX_NUMBER_LENGTH) {
            problem = "of at most " + ValueReader.MAX_NUMBER_LENGTH + " characters, found one of "
                    + (text == null ? "more than " + ValueReader.MAX_NUMBER_LENGTH + " digits" : "" + text.length());
        } else if (value instanceof BigDecimal) {
            long exponent = ((BigDecimal) value).precision() - 1L - ((BigDecimal) value).scale();
            problem = exponent <= Integer.MAX_VALUE ? null : "with an exponent below 2^31, found one of " + exponent;
        }
        if (problem != null) {
            throw ValueWriter.error("expected " + value.getClass().getSimpleName() + " " + problem, null);
        }
        out.text(text);
    }

    private static byte[] toBytes(ValueReader in) throws RecordException {
        if (in.code != Code.BYTES && in.code != Code.BYTESTRING) {
            throw in.misfit();
        }
        return in.bytes();
    }

    private static Object toDecimal(ValueReader in) throws RecordException {
        if (in.code == Code.STRING) {
            String text = in.number(ValueReader.DECIMAL);
            try {
                return new BigDecimal(text);
            } catch (NumberFormatException error) {    // not a number, infinite, or of another size
                throw in.misfit(text.matches(".*[0-9].*") ? ", whose exponent is out of range" : "");
            }
        } else if (in.isReal()) {
            double number = in.number();
            if (Double.isNaN(number) || Double.isInfinite(number)) {
                throw in.misfit();
            }
            return shortest(number);
        }
        return BigDecimal.valueOf(in.integer(Long.MIN_VALUE, Long.MAX_VALUE));
    }

    /**
     * The decimal of fewest digits that is this double, as Python's repr has it; Double.toString has more digits before
     * Java 19.
     */
    private static BigDecimal shortest(double number) {
        BigDecimal exact = new BigDecimal(number);
        BigDecimal found = exact;
        for (int digits = 1; digits <= 17; digits++) {
            found = exact.round(new MathContext(digits));
            if (found.doubleValue() == number) {
                break;
            }
        }
        double size = Math.abs(number);
        boolean isPlain = size == 0 || (size >= 1e-4 && size < 1e16);
        return isPlain ? found.setScale(Math.max(found.scale(), 1)) : found;
    }

    private static Object toUuid(ValueReader in) throws RecordException {
        if (in.code == Code.STRING) {
            String text = in.text();
            if (!UUID_TEXT.matcher(text).matches()) {
                throw in.misfit();
            }
            String digits = text.replace("-", "");
            return new UUID(Long.parseUnsignedLong(digits.substring(0, 16), 16),
                    Long.parseUnsignedLong(digits.substring(16), 16));
        }
        ByteBuffer bytes = ByteBuffer.wrap(toBytes(in));
        if (bytes.remaining() != 16) {
            throw in.misfit(" of " + bytes.remaining() + " bytes");
        }
        return new UUID(bytes.getLong(), bytes.getLong());
    }
}
