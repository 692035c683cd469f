package org.typedbytes.records;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** An Object: read by its type code, written by its class. */
final class Untyped extends Form {
    /** By type code. */
    private static final Form[] SCALARS = Stream.of(byte[].class, Byte.class, Boolean.class, Integer.class, Long.class,
            Float.class, Double.class, String.class, null, null, null, Short.class)
            .map(type -> type == null ? null : Scalar.of(type, Forms.USUAL)).toArray(Form[]::new);

    private final Forms forms;
    private final Form items = new Containers.Items(List.class, this, ArrayList::new);
    private final Form pairs = new Containers.Pairs(Map.class, this, this, LinkedHashMap::new);

    Untyped(Forms forms) {
        super("Object");
        this.forms = forms;
    }

    @Override
    Object read(ValueReader in) throws RecordException {
        int code = in.code == Code.BYTESTRING ? Code.BYTES : in.code;
        if (code == Code.VECTOR || code == Code.LIST) {
            return items.read(in);
        } else if (code == Code.MAP) {
            return pairs.read(in);
        } else if (code >= SCALARS.length) {
            throw in.misfit();
        }
        return SCALARS[code].read(in);
    }

    @Override
    void write(ValueWriter out, Object value) throws RecordException {
        if (value instanceof Map) {
            pairs.write(out, value);
        } else if (value instanceof Collection) {
            items.write(out, value);
        } else {
            Form form;
            try {
                form = forms.dynamic(value instanceof Enum ? ((Enum<?>) value).getDeclaringClass()
                        : value instanceof ByteBuffer ? ByteBuffer.class : value.getClass());
            } catch (IllegalArgumentException error) {
                throw ValueWriter.error(error.getMessage(), error);
            }
            form.write(out, value);
        }
    }

    @Override
    boolean takesText() {
        return true;
    }
}
