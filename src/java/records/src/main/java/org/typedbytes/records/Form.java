package org.typedbytes.records;

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

    /** What a null on the wire is. */
    Object ofNull(ValueReader in) throws RecordException {
        return null;
    }

    /** Whether values of one hash value have an order, by which a map finds them. */
    boolean isOrdered() {
        return false;
    }

    /** Whether the text "null" is a value of the type. */
    boolean takesText() {
        return false;
    }
}
