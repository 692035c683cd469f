package org.typedbytes.records;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;

final class Components {
    private Components() {
    }

    static Method[] accessors(Class<?> type) {
        RecordComponent[] components = type.getRecordComponents();    // null: the class is no record
        return components == null ? null
                : Arrays.stream(components).map(RecordComponent::getAccessor).toArray(Method[]::new);
    }
}
