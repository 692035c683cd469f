package org.typedbytes.vectors;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.record.Buffer;

/**
 * JSON text, pure ASCII, without a blank: what Hadoop reads and writes, named by its Java type.
 *
 * <p>A value is an object with one member that says which Java type it is, {@code {"int":1}}; a float has its
 * bits as a second member, since its digits do not tell one NaN from another; a long is quoted, since many
 * JSON readers would round it.
 */
final class Json {
    private Json() {}

    static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < 0x20 || c > 0x7e) {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    /** An object of the members given, each already JSON text: {@code object("a", "1")} is {@code {"a":1}}. */
    static String object(String... namesAndValues) {
        return "{" + members(namesAndValues) + "}";
    }

    /** The members of an object without its braces. */
    static String members(String... namesAndValues) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            text.append(i == 0 ? "" : ",").append(quote(namesAndValues[i])).append(':').append(namesAndValues[i + 1]);
        }
        return text.toString();
    }

    /** An array of elements that are already JSON text. */
    static String array(Collection<String> elements) {
        return "[" + String.join(",", elements) + "]";
    }

    /** A value as {@code TypedBytesInput.read} gives it and {@code TypedBytesOutput.write} takes it. */
    @SuppressWarnings("deprecation") // Buffer: Hadoop still reads every BYTES into one
    static String value(Object value) {
        if (value == null) {
            return object("null", "true");
        } else if (value instanceof Buffer) {
            Buffer buffer = (Buffer) value;
            return object("bytes", quote(Hex.of(buffer.get(), buffer.getCount())));
        } else if (value instanceof Byte) {
            return object("byte", value.toString());
        } else if (value instanceof Boolean) {
            return object("bool", value.toString());
        } else if (value instanceof Integer) {
            return object("int", value.toString());
        } else if (value instanceof Long) {
            return object("long", quote(value.toString()));
        } else if (value instanceof Float) {
            String bits = String.format("%08x", Float.floatToRawIntBits((Float) value));
            return object("float", quote(value.toString()), "bits", quote(bits));
        } else if (value instanceof Double) {
            String bits = String.format("%016x", Double.doubleToRawLongBits((Double) value));
            return object("double", quote(value.toString()), "bits", quote(bits));
        } else if (value instanceof String) {
            return object("string", quote((String) value));
        } else if (value instanceof List) {
            String name = value instanceof ArrayList ? "vector" : "list";
            return object(name, array(((List<?>) value).stream().map(Json::value).collect(Collectors.toList())));
        } else if (value instanceof Map) {
            return object("map", array(((Map<?, ?>) value)
                    .entrySet().stream().map(Json::entry).collect(Collectors.toList())));
        }
        return object("other", quote(value.getClass().getName() + ":" + value));
    }

    private static String entry(Map.Entry<?, ?> entry) {
        return "[" + value(entry.getKey()) + "," + value(entry.getValue()) + "]";
    }

    /** A Writable by class name and text; the address in a text that Object.toString made changes with every run. */
    static String writable(Writable writable) {
        if (writable == null) {
            return object("null", "true");
        }
        String text = writable instanceof ArrayWritable
                ? Arrays.asList(((ArrayWritable) writable).toStrings()).toString()
                : writable.toString();
        text = text.replaceAll("@[0-9a-f]{5,8}$", "@HASH");
        return object("class", quote(writable.getClass().getSimpleName()), "str", quote(text));
    }
}
