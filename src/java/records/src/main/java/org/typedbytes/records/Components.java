package org.typedbytes.records;

import java.lang.reflect.Method;

/** The components of Java records. The jar has another class of this name for Java 16 and later, which knows them. */
final class Components {
    private Components() {
    }

    /** The accessors of a Java record's components in their order; null: the class is none. */
    static Method[] accessors(Class<?> type) {
        return null;
    }
}
