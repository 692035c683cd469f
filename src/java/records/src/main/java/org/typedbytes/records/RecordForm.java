package org.typedbytes.records;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A Java record or a bean: a MAP of its fields by name, or a VECTOR of them in their order. */
final class RecordForm extends Form {
    private final Constructor<?> constructor;
    private final boolean isBean;
    private final boolean isVector;
    private final List<Property> fields;
    private final Map<String, Integer> indexes = new HashMap<>();
    private int required;    // items of a VECTOR up to the last that has to be there

    /** @param constructor of a bean without parameters; of a Java record that of all fields */
    RecordForm(Constructor<?> constructor, boolean isBean, boolean isVector, List<Property> fields)
            throws ReflectiveOperationException {
        super(constructor.getDeclaringClass().getSimpleName());
        this.constructor = constructor;
        this.isBean = isBean;
        this.isVector = isVector;
        this.fields = fields;
        Object fresh = isBean ? constructor.newInstance() : null;
        for (Property field : fields) {
            if (isBean) {
                field.whenMissing = field.get(fresh);
            }
            if (indexes.put(field.key(), indexes.size()) != null) {
                throw new IllegalArgumentException("two fields of " + name + " have the name "
                        + ValueReader.quoted(field.key()));
            }
            required = field.whenMissing == Property.MISSING ? indexes.size() : required;
        }
    }

    @Override
    Object read(ValueReader in) throws RecordException {
        int start = in.start;
        Object[] values = new Object[fields.size()];
        Arrays.fill(values, Property.MISSING);
        if (in.code == Code.MAP) {
            in.pairs(index -> {
                int field = values.length;
                if (in.code == Code.STRING) {
                    field = indexes.getOrDefault(in.text(), field);
                } else {
                    in.skip();
                }
                in.next();
                readField(in, values, field);
            });
        } else {
            int count = in.itemCount();
            checkCount(in, start, count < 0 ? required : count);
            checkCount(in, start, in.items(count, index -> readField(in, values, index)));
        }
        try {
            return make(in, start, values);
        } catch (ReflectiveOperationException error) {
            throw failure(error, start);
        }
    }

    private void checkCount(ValueReader in, int start, int count) throws RecordException {
        if (count < required || count > fields.size()) {
            String expected = required == fields.size() ? "" + required : required + " to " + fields.size();
            throw in.error(name + ": expected " + expected + (expected.equals("1") ? " item" : " items") + ", found "
                    + count, start);
        }
    }

    private void readField(ValueReader in, Object[] values, int index) throws RecordException {
        if (index >= values.length) {
            in.skip();
            return;
        }
        try {
            values[index] = in.value(fields.get(index).form);
        } catch (RecordException error) {
            throw error.within("." + fields.get(index).name);
        }
    }

    private Object make(ValueReader in, int start, Object[] values)
            throws RecordException, ReflectiveOperationException {
        Object bean = isBean ? constructor.newInstance() : null;
        for (int i = 0; i < values.length; i++) {
            Property field = fields.get(i);
            boolean isMissing = values[i] == Property.MISSING;
            if (isMissing && field.whenMissing == Property.MISSING) {
                throw in.error(name + ": missing field " + ValueReader.quoted(field.key()), start);
            } else if (isMissing) {
                values[i] = field.whenMissing;    // of a bean, its constructor has done so
            } else if (isBean) {
                field.set(bean, values[i]);
            }
        }
        return isBean ? bean : constructor.newInstance(values);
    }

    @Override
    void write(ValueWriter out, Object record) throws RecordException {
        Object[] values = new Object[fields.size()];
        int count = 0;
        for (int i = 0; i < values.length; i++) {
            try {
                values[i] = fields.get(i).get(record);
            } catch (ReflectiveOperationException error) {
                throw failure(error, -1);
            }
            boolean isOmitted = !isVector && out.omitsNulls && fields.get(i).isOmittable(values[i]);
            values[i] = isOmitted ? Property.MISSING : values[i];
            count += isOmitted ? 0 : 1;
        }
        out.enter(isVector ? Code.VECTOR : Code.MAP, 4).putInt(count);
        for (int i = 0; i < values.length; i++) {
            if (values[i] != Property.MISSING) {
                if (!isVector) {
                    out.text(fields.get(i).key());
                }
                try {
                    out.value(fields.get(i).form, values[i]);
                } catch (RecordException error) {
                    throw error.within("." + fields.get(i).name);
                }
            }
        }
        out.leave();
    }

    /** The error that the class itself has thrown. */
    private RecordException failure(ReflectiveOperationException error, int start) {
        Throwable cause = error instanceof InvocationTargetException ? error.getCause() : error;
        if (cause instanceof Error) {
            throw (Error) cause;
        }
        return new RecordException(name + ": " + cause, start, cause);
    }
}
