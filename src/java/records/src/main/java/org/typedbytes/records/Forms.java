package org.typedbytes.records;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Makes the forms of types. Those of record classes are made once, since they may be inside themselves. */
final class Forms {
    /** The options of a field without an annotation. */
    static final Field USUAL;
    /** Of record classes: generic ones with larger ones of their kind inside have no end. */
    private static final int MAX_NESTING = 100;

    static {
        try {
            USUAL = Forms.class.getDeclaredMethod("usual").getAnnotation(Field.class);
        } catch (NoSuchMethodException error) {
            throw new AssertionError(error);
        }
    }

    private final Map<Shape, RecordForm> records = new HashMap<>();
    private final Map<Class<?>, Form> dynamic = new HashMap<>();
    private final Form untyped = new Untyped(this);
    private int nesting;

    @Field
    private static void usual() {
    }

    /** @throws IllegalArgumentException for a type that has no form */
    Form form(Type type) {
        return form(Shape.of(type, Collections.emptyMap()), USUAL);
    }

    /** The form of the class of an Object; @throws IllegalArgumentException as above */
    synchronized Form dynamic(Class<?> type) {
        Form form = dynamic.get(type);
        if (form == null) {
            if (type == Object.class) {
                throw new IllegalArgumentException("no form for an instance of Object itself");
            }
            records.clear();    // may have some that are not complete, after an error
            form = form(type);
            dynamic.put(type, form);
        }
        return form;
    }

    private Form form(Shape shape, Field options) {
        Class<?> type = shape.type;
        Form scalar = Scalar.of(type, options);
        Form form = scalar != null ? scalar : Times.of(type, options);
        if (form != null) {
            return form;
        } else if (type == Object.class) {
            return untyped;
        } else if (type.isEnum()) {
            return enumForm(type, options);
        } else if (type == Optional.class) {
            return new Containers.Maybe(form(shape.arguments.get(0), options));
        } else if (type.isArray()) {
            return new Containers.Elements(type.getComponentType(), form(shape.arguments.get(0), options));
        } else if (type == Iterable.class || Collection.class.isAssignableFrom(type)) {
            Form item = form(shape.as(Iterable.class).arguments.get(0), options);
            return new Containers.Items(type, item,
                    maker(type, Arrays.asList(ArrayList::new, LinkedHashSet::new, TreeSet::new, ArrayDeque::new)));
        } else if (Map.class.isAssignableFrom(type)) {
            List<Shape> pair = shape.as(Map.class).arguments;
            return new Containers.Pairs(type, form(pair.get(0), options), form(pair.get(1), options),
                    maker(type, Arrays.asList(LinkedHashMap::new, TreeMap::new)));
        } else if (type.isPrimitive() || type.getName().matches("javax?\\..*")
                || Modifier.isAbstract(type.getModifiers())) {
            throw new IllegalArgumentException("no form for " + type.getName());
        }
        RecordForm known = records.get(shape);
        return known != null ? known : record(shape);
    }

    /** What makes collections of a type: the first usual one that is of it, or the type itself. */
    @SuppressWarnings("unchecked")
    private static <T> Supplier<T> maker(Class<?> type, List<Supplier<T>> usual) {
        if (Modifier.isAbstract(type.getModifiers())) {
            return usual.stream().filter(maker -> type.isInstance(maker.get())).findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("no form for " + type.getName()));
        }
        Constructor<?> constructor = constructor(type);
        return () -> {
            try {
                return (T) constructor.newInstance();
            } catch (ReflectiveOperationException error) {
                throw new IllegalStateException(error);
            }
        };
    }

    private static Constructor<?> constructor(Class<?> type, Class<?>... parameters) {
        try {
            return Property.opened(type.getDeclaredConstructor(parameters));
        } catch (NoSuchMethodException error) {
            throw new IllegalArgumentException("no form for " + type.getName()
                    + ": it has no constructor without parameters", error);
        }
    }

    private Form enumForm(Class<?> type, Field options) {
        List<AccessibleObject> members = new ArrayList<>(Arrays.asList(type.getDeclaredFields()));
        members.addAll(Arrays.asList(type.getDeclaredMethods()));
        members.removeIf(member -> options.text() || !member.isAnnotationPresent(EnumValue.class));
        AccessibleObject member = members.isEmpty() ? null : Property.opened(members.get(0));
        EnumForm form = new EnumForm(type, form(member == null ? String.class : Property.typeOf(member)));
        try {
            for (Object constant : type.getEnumConstants()) {
                form.put(constant, member == null ? ((Enum<?>) constant).name() : Property.get(member, constant));
            }
        } catch (ReflectiveOperationException error) {
            throw broken(type, error);
        }
        return form;
    }

    private static IllegalArgumentException broken(Class<?> type, ReflectiveOperationException error) {
        Throwable cause = error.getCause() == null ? error : error.getCause();
        return new IllegalArgumentException(type.getName() + ": " + cause, error);
    }

    // ---- records and beans

    private RecordForm record(Shape shape) {
        Class<?> type = shape.type;
        Method[] accessors = Components.accessors(type);
        boolean isBean = accessors == null;
        boolean isVector = type.isAnnotationPresent(AsVector.class);
        FieldOrder order = type.getAnnotation(FieldOrder.class);
        if (isBean ? isVector && order == null : order != null) {
            String problem = isBean ? ": @AsVector needs a Java record, or a @FieldOrder"
                    : ": the order of a Java record is that of its components, not a @FieldOrder";
            throw new IllegalArgumentException(type.getSimpleName() + problem);
        }
        List<Property> fields = isBean ? beanFields(type, order) : components(accessors);
        Stream<Method> components = isBean ? Stream.empty() : Arrays.stream(accessors);
        Class<?>[] parameters = components.map(Method::getReturnType).toArray(Class<?>[]::new);
        RecordForm form;
        try {
            form = new RecordForm(constructor(type, parameters), isBean, isVector, fields);
        } catch (ReflectiveOperationException error) {
            throw broken(type, error);
        }
        records.put(shape, form);
        for (Property field : fields) {
            nesting++;
            try {
                if (nesting > MAX_NESTING) {
                    throw new IllegalArgumentException("record classes nest deeper than " + MAX_NESTING);
                }
                field.form = form(Shape.of(field.type(), shape.as(field.declaringClass()).bindings()), field.options);
            } catch (IllegalArgumentException error) {
                throw new IllegalArgumentException(type.getSimpleName() + "." + field.name + ": " + error.getMessage(),
                        error);
            } finally {
                nesting--;
            }
        }
        return form;
    }

    private static List<Property> components(Method[] accessors) {
        List<Property> fields = new ArrayList<>();
        for (Method accessor : accessors) {
            Property field = new Property(accessor.getName(), accessor, null);
            if (field.options.optional() || accessor.getReturnType() == Optional.class) {
                field.mayBeMissing(accessor.getReturnType());
            }
            fields.add(field);
        }
        return fields;
    }

    /** Public fields, and what has a public getter and setter; ordered by name where no order is given. */
    private static List<Property> beanFields(Class<?> type, FieldOrder order) {
        Map<String, Property> fields = new TreeMap<>();
        for (java.lang.reflect.Field field : type.getFields()) {
            int modifiers = field.getModifiers();
            if (!Modifier.isStatic(modifiers) && !Modifier.isTransient(modifiers)) {
                if (Modifier.isFinal(modifiers)) {
                    throw new IllegalArgumentException(type.getSimpleName() + "." + field.getName()
                            + ": a final field cannot be read");
                }
                fields.put(field.getName(), new Property(field.getName(), field, field));
            }
        }
        for (Method getter : getters(type)) {
            String prefix = getter.getReturnType() == boolean.class ? "^(is|get)" : "^get";
            String name = getter.getName().replaceFirst(prefix, "");
            if (name.length() == getter.getName().length() || name.isEmpty()) {
                continue;
            }
            Method setter = setter(type, "set" + name, getter.getReturnType());
            if (setter != null) {    // else computed, not a field
                boolean isAcronym = name.length() > 1 && Character.isUpperCase(name.charAt(1));
                String field = isAcronym ? name : Character.toLowerCase(name.charAt(0)) + name.substring(1);
                fields.put(field, new Property(field, getter, setter));
            }
        }
        if (fields.isEmpty()) {
            throw new IllegalArgumentException("no form for " + type.getName()
                    + ": it has no public field, and no getter with a setter");
        }
        if (order == null) {
            return new ArrayList<>(fields.values());
        }
        List<String> names = Arrays.asList(order.value());
        if (names.size() != fields.size() || !fields.keySet().containsAll(names)) {
            String problem = ": the @FieldOrder is " + names + ", the fields are " + fields.keySet();
            throw new IllegalArgumentException(type.getSimpleName() + problem);
        }
        return names.stream().map(fields::get).collect(Collectors.toList());
    }

    /** The public methods without parameters, except Object's: one of each name, that of the narrowest type. */
    private static Collection<Method> getters(Class<?> type) {
        Map<String, Method> getters = new TreeMap<>();
        for (Method method : type.getMethods()) {
            if (method.getParameterCount() == 0 && !Modifier.isStatic(method.getModifiers())
                    && method.getDeclaringClass() != Object.class) {
                getters.merge(method.getName(), method, (one, other) ->
                        one.getReturnType().isAssignableFrom(other.getReturnType()) ? other : one);
            }
        }
        getters.replaceAll((name, method) -> bridged(method));
        return getters.values();
    }

    /**
     * The method that a bridge calls. A bridge of the narrowest type is what a public class has of a superclass that is
     * not public; it has the erasure of the type alone.
     */
    private static Method bridged(Method method) {
        Class<?> owner = method.getDeclaringClass();
        while (method.isBridge() && owner.getSuperclass() != null) {
            owner = owner.getSuperclass();
            try {
                method = owner.getDeclaredMethod(method.getName());
            } catch (NoSuchMethodException error) {
                // It is that of a class further up.
            }
        }
        return method;
    }

    /** The public setter of the narrowest type to which the values of a type can be given; null: there is none. */
    private static Method setter(Class<?> type, String name, Class<?> value) {
        Method setter = null;
        for (Method method : type.getMethods()) {
            Class<?> parameter = method.getParameterCount() == 1 ? method.getParameterTypes()[0] : null;
            // Wider than the type where a getter narrows the one it overrides, as one of a type parameter.
            if (parameter != null && method.getName().equals(name) && !Modifier.isStatic(method.getModifiers())
                    && parameter.isAssignableFrom(value)
                    && (setter == null || setter.getParameterTypes()[0].isAssignableFrom(parameter))) {
                setter = method;
            }
        }
        return setter;
    }
}
