package org.typedbytes.records;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The field or the method of an enum that gives what is written for a constant: in Python, the value of the member. Not
 * an array, nor of a class without {@code equals()}. Where it is null for one constant, that is what a null is read as.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD})
public @interface EnumValue {
}
