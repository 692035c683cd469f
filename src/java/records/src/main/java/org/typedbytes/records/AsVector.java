package org.typedbytes.records;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Writes a Java record, or a class with a {@link FieldOrder}, as a VECTOR in the order of its fields, not as a MAP by
 * their names.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface AsVector {
}
