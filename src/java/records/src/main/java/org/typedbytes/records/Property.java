package org.typedbytes.records;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Array;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Objects;
import java.util.Optional;

/** A field of a record class: how it is got and set, what it is called, and how its values are read and written. */
final class Property {
    static final Object MISSING = new Object();

    final String name;
    final Field options;
    private final AccessibleObject getter;
    private final AccessibleObject setter;    // null: the constructor of a Java record takes the value
    Form form;    // known when that of the class is, which may be inside
    Object whenMissing = MISSING;    // MISSING: the field has to be there

    /** @param getter a field or a method, as the setter */
    Property(String name, AccessibleObject getter, AccessibleObject setter) {
        this.name = name;
        this.getter = opened(getter);
        this.setter = setter == null ? null : opened(setter);
        Field options = getter.getAnnotation(Field.class);
        if (options == null && setter != null) {
            options = setter.getAnnotation(Field.class);
        }
        for (Class<?> owner = declaringClass(); options == null && owner != null; owner = owner.getSuperclass()) {
            try {
                options = owner.getDeclaredField(name).getAnnotation(Field.class);
            } catch (NoSuchFieldException error) {
                // A property with a name of its own.
            }
        }
        this.options = options == null ? Forms.USUAL : options;
    }

    static <T extends AccessibleObject> T opened(T member) {
        try {
            member.setAccessible(true);
            return member;
        } catch (RuntimeException error) {    // a module that does not open its package
            throw new IllegalArgumentException(error.getMessage(), error);
        }
    }

    static Type typeOf(AccessibleObject getter) {
        return getter instanceof Method ? ((Method) getter).getGenericReturnType()
                : ((java.lang.reflect.Field) getter).getGenericType();
    }

    static Object get(AccessibleObject getter, Object owner) throws ReflectiveOperationException {
        return getter instanceof Method ? ((Method) getter).invoke(owner)
                : ((java.lang.reflect.Field) getter).get(owner);
    }

    Class<?> declaringClass() {
        return ((Member) getter).getDeclaringClass();
    }

    Type type() {
        return typeOf(getter);
    }

    /** The name in a MAP. */
    String key() {
        return options.name().isEmpty() ? name : options.name();
    }

    void mayBeMissing(Class<?> type) {
        whenMissing = type == Optional.class ? Optional.empty() : Array.get(Array.newInstance(type, 1), 0);
    }

    /** Whether a value need not be written, since reading gives it back. */
    boolean isOmittable(Object value) {
        return (value == null || value.equals(Optional.empty())) && Objects.equals(value, whenMissing);
    }

    Object get(Object record) throws ReflectiveOperationException {
        return get(getter, record);
    }

    void set(Object record, Object value) throws ReflectiveOperationException {
        if (setter instanceof Method) {
            ((Method) setter).invoke(record, value);
        } else {
            ((java.lang.reflect.Field) setter).set(record, value);
        }
    }
}
