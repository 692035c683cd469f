package org.typedbytes.records;

import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;

/** How the values of one Java type are read and written. */
abstract class Form {
    /** The name of the type in messages. */
    final String name;

    Form(String name) {
        this.name = name;
    }

    /** Reads the value whose type code is {@code in.code}; not a null. */
    abstract Object read(ValueReader in) throws RecordException;

    /** Writes a value that is not null. */
    abstract void write(ValueWriter out, Object value) throws RecordException;

    /** Writes Java's null. */
    void writeNull(ValueWriter out) throws RecordException {
        out.writeNull();
    }

    /** What a null on the wire is. */
    Object ofNull(ValueReader in) throws RecordException {
        return whenNull();
    }

    /** The value of the type that is written as a null; null: there is none but Java's. */
    Object whenNull() {
        return null;
    }

    /** Whether values of one hash value have an order, by which a map finds them. */
    boolean isOrdered() {
        return false;
    }

    /**
     * Whether a HashMap finds instances of a class by their order where they share a hash value: it asks for Comparable
     * of the very class. A LocalDate has one of ChronoLocalDate, and a ByteBuffer is of a subclass.
     */
    static boolean isOrderedByHashMaps(Class<?> type) {
        if (Modifier.isAbstract(type.getModifiers())) {
            return false;
        }
        for (Type parent : type.getGenericInterfaces()) {
            if (parent instanceof ParameterizedType && ((ParameterizedType) parent).getRawType() == Comparable.class) {
                return ((ParameterizedType) parent).getActualTypeArguments()[0] == type;
            }
        }
        return false;
    }

    /** Whether the text "null" is a value of the type. */
    boolean takesText() {
        return false;
    }
}
