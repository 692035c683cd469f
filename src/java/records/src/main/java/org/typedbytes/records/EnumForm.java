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

    void put(Object constant, Object value) {
        values.put(constant, value);
        if (constants.put(value, constant) != null) {
            throw new IllegalArgumentException("two constants of " + name + " have the value " + value);
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
    boolean isOrdered() {
        return true;
    }

    @Override
    boolean takesText() {
        return form.takesText();
    }
}
