package org.typedbytes.records;

import java.lang.reflect.Array;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A Java type without variables: a class, and what its type parameters are; for an array, what its items are. */
final class Shape {
    final Class<?> type;
    final List<Shape> arguments;

    private Shape(Class<?> type, List<Shape> arguments) {
        this.type = type;
        this.arguments = arguments;
    }

    static Shape of(Type type, Map<TypeVariable<?>, Shape> bindings) {
        if (type instanceof TypeVariable) {
            return bindings.getOrDefault(type, of(Object.class, bindings));
        } else if (type instanceof WildcardType) {
            return of(((WildcardType) type).getUpperBounds()[0], bindings);
        } else if (type instanceof GenericArrayType) {
            Shape item = of(((GenericArrayType) type).getGenericComponentType(), bindings);
            return new Shape(Array.newInstance(item.type, 0).getClass(), Collections.singletonList(item));
        }
        List<Shape> arguments = new ArrayList<>();
        if (type instanceof ParameterizedType) {
            for (Type argument : ((ParameterizedType) type).getActualTypeArguments()) {
                arguments.add(of(argument, bindings));
            }
            return new Shape((Class<?>) ((ParameterizedType) type).getRawType(), arguments);
        }
        Class<?> plain = (Class<?>) type;
        if (plain.isArray()) {
            arguments.add(of(plain.getComponentType(), bindings));
        }
        for (TypeVariable<?> parameter : plain.getTypeParameters()) {
            arguments.add(of(Object.class, bindings));
        }
        return new Shape(plain, arguments);
    }

    /** What the type variables of the class are. */
    Map<TypeVariable<?>, Shape> bindings() {
        Map<TypeVariable<?>, Shape> bindings = new HashMap<>();
        TypeVariable<?>[] parameters = type.getTypeParameters();
        for (int i = 0; i < parameters.length; i++) {
            bindings.put(parameters[i], arguments.get(i));
        }
        return bindings;
    }

    /** The shape as which a superclass or an interface is extended. */
    Shape as(Class<?> target) {
        if (type == target) {
            return this;
        }
        List<Type> parents = new ArrayList<>(Arrays.asList(type.getGenericInterfaces()));
        parents.add(type.getGenericSuperclass());    // null: an interface
        for (Type parent : parents) {
            Shape shape = parent == null ? this : of(parent, bindings());
            if (shape != this && target.isAssignableFrom(shape.type)) {
                return shape.as(target);
            }
        }
        throw new AssertionError(type + " is no " + target);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Shape && ((Shape) other).type == type && ((Shape) other).arguments.equals(arguments);
    }

    @Override
    public int hashCode() {
        return 31 * type.hashCode() + arguments.hashCode();
    }
}
