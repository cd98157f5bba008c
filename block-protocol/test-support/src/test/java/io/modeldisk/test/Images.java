package io.modeldisk.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

/** Checks images. An image is a record with nested records and lists, which transfers an object's state to another process. */
public final class Images {
    /** Restores an object from an image, and takes a new image of the object. */
    @FunctionalInterface
    public interface Resume<T> {
        /** Returns the new image of an object that was restored from {@code image}. */
        T resumed(T image) throws Exception;
    }

    private Images() {}

    /**
     * Checks that each value of an image survives a transfer. For each value, this method transfers an image that differs from
     * {@code base} only in this value, and checks that the new image contains the changed value.
     *
     * @param base an image whose lists and arrays are not empty
     */
    public static <T extends Record> void assertEachValueSurvives(T base, Resume<T> resume) throws Exception {
        List<Map.Entry<String, Object>> variants = new ArrayList<>();
        forEachVariant("", base, (path, variant) -> variants.add(Map.entry(path, variant)));
        assertThat(variants).hasSameSizeAs(values(base).keySet());
        for (Map.Entry<String, Object> each : variants) {
            @SuppressWarnings("unchecked")
            T variant = (T) each.getValue();
            String path = each.getKey();
            assertThat(values(resume.resumed(variant))).as("the value %s of the new image", path)
                .containsEntry(path, values(variant).get(path));
        }
    }

    /** Returns the values of an image as texts. The keys are paths, such as {@code .ledger.round}. */
    public static Map<String, String> values(Record image) {
        Map<String, String> values = new LinkedHashMap<>();
        collect("", image, values);
        return values;
    }

    private static void collect(String path, Object value, Map<String, String> into) {
        switch (value) {
            case Record nested -> {
                for (RecordComponent each : nested.getClass().getRecordComponents()) {
                    collect(path + "." + each.getName(), component(nested, each), into);
                }
            }
            case List<?> list -> IntStream.range(0, list.size())
                .forEach(i -> collect(path + "[" + i + "]", list.get(i), into));
            case long[] numbers -> into.put(path, Arrays.toString(numbers));
            default -> into.put(path, value.toString());
        }
    }

    private static void forEachVariant(String path, Object value, BiConsumer<String, Object> visitor) {
        switch (value) {
            case Record nested -> {
                RecordComponent[] components = nested.getClass().getRecordComponents();
                Object[] values = Arrays.stream(components).map(each -> component(nested, each)).toArray();
                for (int i = 0; i < values.length; i++) {
                    int at = i;
                    forEachVariant(path + "." + components[i].getName(), values[i], (leaf, variant) -> {
                        Object[] changed = values.clone();
                        changed[at] = variant;
                        visitor.accept(leaf, record(nested.getClass(), components, changed));
                    });
                }
            }
            case List<?> list -> {
                for (int i = 0; i < list.size(); i++) {
                    int at = i;
                    forEachVariant(path + "[" + i + "]", list.get(i), (leaf, variant) -> {
                        List<Object> changed = new ArrayList<>(list);
                        changed.set(at, variant);
                        visitor.accept(leaf, changed);
                    });
                }
            }
            case Boolean flag -> visitor.accept(path, !flag);
            case Integer number -> visitor.accept(path, 1 - number);
            case Long number -> visitor.accept(path, number + 1);
            case long[] numbers -> {
                assertThat(Array.getLength(numbers)).as("the length of the array %s", path).isPositive();
                visitor.accept(path, Arrays.stream(numbers).map(number -> number ^ 1).toArray());
            }
            case Enum<?> constant -> {
                Object[] all = constant.getDeclaringClass().getEnumConstants();
                visitor.accept(path, all[(constant.ordinal() + 1) % all.length]);
            }
            default -> throw new IllegalArgumentException(
                "the value " + path + " cannot be changed, because its type is " + value.getClass());
        }
    }

    private static Object component(Record of, RecordComponent component) {
        try {
            component.getAccessor().setAccessible(true);
            return component.getAccessor().invoke(of);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object record(Class<?> type, RecordComponent[] components, Object[] values) {
        try {
            Constructor<?> constructor = type
                .getDeclaredConstructor(Arrays.stream(components).map(RecordComponent::getType).toArray(Class[]::new));
            constructor.setAccessible(true);
            return constructor.newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Lists the fields of a class whose state is transferred by an image. Each field must be listed, either as part of the image,
     * or with the reason why it is not in the image.
     */
    public static final class Fields {
        private final Class<?> type;
        private final List<String> named = new ArrayList<>();

        private Fields(Class<?> type) {
            this.type = type;
        }

        /** Lists fields that are in the image. */
        public Fields imaged(String... fields) {
            named.addAll(List.of(fields));
            return this;
        }

        /** Lists the fields that have the same names as the components of an image record. */
        public Fields imagedAs(Class<? extends Record> image) {
            Arrays.stream(image.getRecordComponents()).map(RecordComponent::getName).forEach(named::add);
            return this;
        }

        /** Lists fields that are not in the image, for the given reason. */
        public Fields notImaged(String reason, String... fields) {
            assertThat(reason).isNotBlank();
            named.addAll(List.of(fields));
            return this;
        }

        /** Checks that each field of the class is listed exactly once, and that nothing else is listed. */
        public void check() {
            List<String> fields = Arrays.stream(type.getDeclaredFields())
                .filter(each -> !Modifier.isStatic(each.getModifiers())).map(Field::getName).toList();
            assertThat(named).as("the listed fields of %s", type.getSimpleName()).doesNotHaveDuplicates();
            assertThat(new TreeSet<>(named)).as("the listed fields of %s", type.getSimpleName())
                .isEqualTo(new TreeSet<>(fields));
        }
    }

    /** Starts a list of the fields of a class. */
    public static Fields fieldsOf(Class<?> type) {
        return new Fields(type);
    }
}
