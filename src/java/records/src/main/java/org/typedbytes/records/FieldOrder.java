package org.typedbytes.records;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The order in which the fields of a class are written, all of them by their Java names; the virtual machine knows
 * none.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface FieldOrder {
    /** The names. */
    String[] value();
}
