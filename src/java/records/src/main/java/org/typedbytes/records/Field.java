package org.typedbytes.records;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.TimeUnit;

/**
 * The name and the form of a field, where they are not the usual ones. It is on a field, a component of a Java record,
 * a getter or a setter; a form is that of all values inside, as in a list of times.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD})
public @interface Field {
    /** The name in a MAP; empty: that of the field. */
    String name() default "";

    /** The unit of times and durations that are numbers: SECONDS, MILLISECONDS or MICROSECONDS. */
    TimeUnit unit() default TimeUnit.MICROSECONDS;

    /**
     * Writes dates, times and durations as ISO 8601 text, a UUID as its text, and an enum by the name of its constant.
     */
    boolean text() default false;

    /**
     * Writes a long as an INT where it fits, as Python writes an int; keys that are compared by their bytes have to
     * agree.
     */
    boolean narrow() default false;

    /** Lets a field of a Java record be missing: it is null, or 0. */
    boolean optional() default false;
}
