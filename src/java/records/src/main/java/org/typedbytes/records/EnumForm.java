package org.typedbytes.records;

import java.util.HashMap;
import java.util.Map;

/** An enum: each constant is written as another value, its own or its name. */
final class EnumForm extends Form {
    private final Form form;
    private final Map<Object, Object> values = new HashMap<>();
    private final Map<Object, Object> constants = new HashMap<>();

    EnumForm(Class<?> type, Form form) {
        super(type.getSimpleName());
        this.form = form;
    }

    /** @throws IllegalArgumentException for a value by which the constant cannot be found again */
    void put(Object constant, Object value) {
        values.put(constant, value);
        if (constants.put(whenRead(constant, value), constant) != null) {
            throw new IllegalArgumentException("two constants of " + name + " have the value " + value);
        }
        if (constants.get(whenRead(constant, value)) != constant) {    // an array, or a bean without equals()
            throw new IllegalArgumentException(name + "." + constant + ": its value does not equal itself when it is "
                    + "read: a " + value.getClass().getTypeName());
        }
    }

    /** A value as it is after it was written and read: a time in UTC, for one. */
    private Object whenRead(Object constant, Object value) {
        try {
            ValueWriter out = new ValueWriter(false, false);
            out.value(form, value);
            return new ValueReader(out.written(), true).read(form);
        } catch (RecordException error) {
            throw new IllegalArgumentException(name + "." + constant + ": " + error.getMessage(), error);
        }
    }

    @Override
    Object read(ValueReader in) throws RecordException {
        Object constant = constants.get(form.read(in));
        if (constant == null) {
            throw in.misfit();
        }
        return constant;
    }

    @Override
    void write(ValueWriter out, Object value) throws RecordException {
        out.value(form, values.get(value));
    }

    @Override
    void writeNull(ValueWriter out) throws RecordException {
        if (whenNull() != null) {
            throw ValueWriter.error("expected " + name + ", found null, which is what " + whenNull() + " is written as",
                    null);
        }
        out.writeNull();
    }

    @Override
    Object whenNull() {
        return constants.get(form.whenNull());
    }

    @Override
    boolean isOrdered() {
        return true;
    }

    @Override
    boolean takesText() {
        return form.takesText();
    }
}
