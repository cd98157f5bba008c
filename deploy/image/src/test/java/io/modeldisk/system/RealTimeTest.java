package io.modeldisk.system;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Checks that main code reads the time and waits only through {@code io.modeldisk.platform.time.NanoClock}, so that tests can
 * control the time. The exceptions are listed in this class.
 */
@AnalyzeClasses(packages = "io.modeldisk", importOptions = ImportOption.DoNotIncludeTests.class)
final class RealTimeTest {
    /** The packages that are allowed to use real time, each with the reason. */
    private static final Map<String, String> PACKAGES = Map.of(
        "io.modeldisk.platform.time", "implements the clock",
        "io.modeldisk.bench", "measures real durations",
        "io.modeldisk.test", "limits the waits of tests");

    /** The classes that are allowed to use real time, each with the reason. */
    private static final Map<String, String> CLASSES = Map.of(
        "io.modeldisk.protocol.rdma.QueuePair", "polls, because no call can wake a completion channel");

    private static final Set<String> METHODS = Set.of("java.lang.System.nanoTime", "java.lang.System.currentTimeMillis",
        "java.lang.Thread.sleep", "java.util.concurrent.TimeUnit.sleep",
        "java.util.concurrent.locks.LockSupport.parkNanos", "java.util.concurrent.locks.LockSupport.parkUntil",
        "java.util.concurrent.locks.Condition.awaitNanos", "java.util.concurrent.locks.Condition.awaitUntil");

    @ArchTest
    static void onlyListedClassesUseRealTime(JavaClasses all) {
        classes().should(notUseRealTime()).check(all);
    }

    @ArchTest
    static void everyListedClassUsesRealTime(JavaClasses all) {
        Set<String> unused = new TreeSet<>(CLASSES.keySet());
        all.stream().filter(each -> !uses(each).isEmpty()).map(RealTimeTest::outermost).forEach(unused::remove);
        assertThat(unused).as("listed classes that do not use real time").isEmpty();
    }

    private static ArchCondition<JavaClass> notUseRealTime() {
        return new ArchCondition<>("take a NanoClock instead of real time") {
            @Override
            public void check(JavaClass each, ConditionEvents events) {
                if (!isNamed(each)) {
                    uses(each).forEach(use -> events.add(SimpleConditionEvent.violated(each, use.getDescription())));
                }
            }
        };
    }

    private static boolean isNamed(JavaClass each) {
        String name = outermost(each);
        return CLASSES.containsKey(name) || PACKAGES.keySet().stream()
            .anyMatch(place -> each.getPackageName().equals(place) || each.getPackageName().startsWith(place + "."));
    }

    private static String outermost(JavaClass each) {
        return each.getEnclosingClass().map(RealTimeTest::outermost).orElse(each.getName());
    }

    private static List<JavaAccess<?>> uses(JavaClass each) {
        return each.getAccessesFromSelf().stream()
            .filter(access -> access.getTarget() instanceof CodeUnitAccessTarget target
                && isRealTime(target))
            .collect(Collectors.toList());
    }

    /**
     * Returns true if a method is in {@code METHODS}, or if it has a time-out parameter and belongs to a JDK class of threads,
     * locks, queues, futures or processes.
     */
    private static boolean isRealTime(CodeUnitAccessTarget target) {
        String owner = target.getOwner().getName();
        boolean waits = owner.startsWith("java.util.concurrent.") && !owner.equals("java.util.concurrent.TimeUnit")
            || owner.equals("java.lang.Thread") || owner.equals("java.lang.Process");
        return METHODS.contains(owner + "." + target.getName()) || waits && target.getRawParameterTypes().stream()
            .map(JavaClass::getName)
            .anyMatch(Set.of("java.util.concurrent.TimeUnit", "java.time.Duration")::contains);
    }
}
