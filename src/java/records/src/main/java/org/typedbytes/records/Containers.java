package org.typedbytes.records;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** The forms of values that hold others of one form. */
final class Containers {
    private Containers() {
    }

    /** Takes the items that are read. */
    private interface Sink {
        void add(Object item) throws RecordException;
    }

    private static void readItems(ValueReader in, Form item, Sink sink) throws RecordException {
        in.items(in.itemCount(), index -> {
            try {
                sink.add(in.value(item));
            } catch (RecordException error) {
                throw error.within("[" + index + "]");
            }
        });
    }

    private static void writeItem(ValueWriter out, Form item, Object value, int index) throws RecordException {
        try {
            out.value(item, value);
        } catch (RecordException error) {
            throw error.within("[" + index + "]");
        }
    }

    /** A Collection is a LIST. */
    static final class Items extends Form {
        private final Form item;
        private final Supplier<Collection<Object>> make;

        Items(Class<?> type, Form item, Supplier<Collection<Object>> make) {
            super(type.getSimpleName());
            this.item = item;
            this.make = make;
        }

        @Override
        Object read(ValueReader in) throws RecordException {
            Collection<Object> items = make.get();
            Keys keys = new Keys(in, name, Keys.areCompared(items, item) ? items : null);
            readItems(in, item, value -> keys.insert(value, () -> items.add(value)));
            return items;
        }

        @Override
        void write(ValueWriter out, Object value) throws RecordException {
            out.enter(Code.LIST, 0);
            int index = 0;
            for (Object one : (Iterable<?>) value) {
                writeItem(out, item, one, index++);
            }
            out.leave();
            out.start(Code.MARKER, 0);
        }
    }

    /** An array is a VECTOR. */
    static final class Elements extends Form {
        private final Class<?> type;
        private final Form item;

        Elements(Class<?> type, Form item) {
            super(type.getSimpleName() + "[]");
            this.type = type;
            this.item = item;
        }

        @Override
        Object read(ValueReader in) throws RecordException {
            List<Object> items = new ArrayList<>();
            readItems(in, item, items::add);
            Object array = Array.newInstance(type, items.size());
            for (int i = 0; i < items.size(); i++) {
                Array.set(array, i, items.get(i));
            }
            return array;
        }

        @Override
        void write(ValueWriter out, Object value) throws RecordException {
            int count = Array.getLength(value);
            out.enter(Code.VECTOR, 4).putInt(count);
            for (int i = 0; i < count; i++) {
                writeItem(out, item, Array.get(value, i), i);
            }
            out.leave();
        }
    }

    /** A Map is a MAP. */
    static final class Pairs extends Form {
        private final Form key;
        private final Form item;
        private final Supplier<Map<Object, Object>> make;

        Pairs(Class<?> type, Form key, Form item, Supplier<Map<Object, Object>> make) {
            super(type.getSimpleName());
            this.key = key;
            this.item = item;
            this.make = make;
        }

        @Override
        Object read(ValueReader in) throws RecordException {
            if (in.code != Code.MAP) {
                throw in.misfit();
            }
            Map<Object, Object> pairs = make.get();
            Keys keys = new Keys(in, name, Keys.areCompared(pairs, key) ? pairs.keySet() : null);
            in.pairs(index -> {
                Object name = readKey(in, index);
                try {
                    Object value = in.read(item);
                    keys.insert(name, () -> pairs.put(name, value));
                } catch (RecordException error) {
                    throw error.within(step(name));
                }
            });
            return pairs;
        }

        private Object readKey(ValueReader in, int index) throws RecordException {
            try {
                return in.value(key);
            } catch (RecordException error) {
                throw error.within(".key(" + index + ")");
            }
        }

        @Override
        void write(ValueWriter out, Object value) throws RecordException {
            Map<?, ?> pairs = (Map<?, ?>) value;
            int count = pairs.size();
            out.enter(Code.MAP, 4).putInt(count);
            int index = 0;
            for (Map.Entry<?, ?> pair : pairs.entrySet()) {
                boolean isKey = true;
                try {
                    out.value(key, pair.getKey());
                    isKey = false;
                    out.value(item, pair.getValue());
                } catch (RecordException error) {
                    throw error.within(isKey ? ".key(" + index + ")" : step(pair.getKey()));
                }
                index++;
            }
            if (index != count) {
                throw ValueWriter.error("the " + name + " has changed while it was written", null);
            }
            out.leave();
        }

        private static String step(Object key) {
            if (key instanceof String) {
                return "[" + ValueReader.quoted((String) key) + "]";
            }
            return "[" + (key == null || key instanceof Number ? key : "<" + key.getClass().getSimpleName() + ">")
                    + "]";
        }
    }

    /** An Optional is its value or a null. */
    static final class Maybe extends Form {
        private final Form item;

        /** @throws IllegalArgumentException where a null could be either */
        Maybe(Form item) {
            super(item.name);
            this.item = item;
            if (item.whenNull() != null) {
                throw new IllegalArgumentException("no form for an Optional of " + name + ", since " + item.whenNull()
                        + " is a null, too");
            }
        }

        @Override
        Object read(ValueReader in) throws RecordException {
            return Optional.of(item.read(in));
        }

        @Override
        void write(ValueWriter out, Object value) throws RecordException {
            out.value(item, ((Optional<?>) value).orElse(null));
        }

        @Override
        Object whenNull() {
            return Optional.empty();
        }

        @Override
        boolean takesText() {
            return item.takesText();
        }
    }

    /** Fills a collection or map of any class, with items of any class. */
    private static final class Keys {
        private static final int MAX_ALIKE = 256;

        private final ValueReader in;
        private final String name;
        private final int start;
        private final Collection<?> hashed;
        private final Map<Integer, Integer> counts = new HashMap<>();

        /** @param hashed the keys, where each is compared with all of one hash value; null: it is not */
        Keys(ValueReader in, String name, Collection<?> hashed) {
            this.in = in;
            this.name = name;
            this.start = in.start;
            this.hashed = hashed;
        }

        /** Whether a new key is compared with all that have its hash value, not by an order with a few of them. */
        static boolean areCompared(Object container, Form key) {
            if (container instanceof SortedMap || container instanceof SortedSet || container instanceof IdentityHashMap
                    || !(container instanceof Map || container instanceof Set)) {
                return false;
            }
            boolean hasTrees = container instanceof HashMap || container instanceof HashSet
                    || container instanceof ConcurrentHashMap;
            return !hasTrees || !key.isOrdered();    // a Hashtable has lists alone, and others may
        }

        void insert(Object key, Runnable insertion) throws RecordException {
            try {
                int before = hashed == null ? 0 : hashed.size();
                insertion.run();
                if (hashed != null && hashed.size() > before && key != null
                        && counts.merge(key.hashCode(), 1, Integer::sum) > MAX_ALIKE) {
                    throw in.error("more than " + MAX_ALIKE + " unequal keys share one hash value", start);
                }
            } catch (RuntimeException error) {
                throw new RecordException(name + ": " + error, start, error);
            }
        }
    }
}
