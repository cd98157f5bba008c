package io.modeldisk.system;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.modeldisk.protocol.scsi.ScsiStatus;

/** Dependency arrows point down and never up: DESIGN.md, section 2. */
@AnalyzeClasses(packages = "io.modeldisk", importOptions = ImportOption.DoNotIncludeTests.class)
final class ArchitectureTest {
    private static final String OURS = "io.modeldisk..";
    private static final String PROTOCOL = "io.modeldisk.protocol..";
    private static final String AGGREGATOR = "io.modeldisk.aggregator..";
    private static final String FAULT = "io.modeldisk.fault..";
    private static final String MOUNT = "io.modeldisk.mount..";
    private static final String SERVER = "io.modeldisk.server..";
    private static final String COMMAND = "io.modeldisk.command..";

    @ArchTest
    static final ArchRule PROTOCOL_KNOWS_NO_OTHER_MODULE = knowsOnly(PROTOCOL);

    @ArchTest
    static final ArchRule AGGREGATOR_KNOWS_NO_OTHER_MODULE = knowsOnly(AGGREGATOR);

    @ArchTest
    static final ArchRule FAULT_KNOWS_NO_OTHER_MODULE = knowsOnly(FAULT);

    @ArchTest
    static final ArchRule MOUNT_KNOWS_ONLY_THE_PROTOCOL = knowsOnly(MOUNT, PROTOCOL);

    @ArchTest
    static final ArchRule SERVER_KNOWS_FAULT_AGGREGATOR_AND_PROTOCOL = knowsOnly(SERVER, FAULT, AGGREGATOR, PROTOCOL);

    @ArchTest
    static final ArchRule NOBODY_KNOWS_THE_COMMAND = noClasses().that().resideOutsideOfPackage(COMMAND).should()
        .dependOnClassesThat().resideInAPackage(COMMAND);

    @ArchTest
    static final ArchRule PDU_SCSI_AND_MEMORY_STAND_ALONE = slices()
        .matching("io.modeldisk.protocol.(pdu|scsi|memory)..")
        .should().notDependOnEachOther();

    @ArchTest
    static final ArchRule PDU_KNOWS_NO_OTHER_PACKAGE = knowsOnly("io.modeldisk.protocol.pdu..");

    @ArchTest
    static final ArchRule SCSI_KNOWS_NO_OTHER_PACKAGE = knowsOnly("io.modeldisk.protocol.scsi..");

    @ArchTest
    static final ArchRule MEMORY_KNOWS_NO_OTHER_PACKAGE = knowsOnly("io.modeldisk.protocol.memory..");

    @ArchTest
    static final ArchRule A_DATAMOVER_KNOWS_NEITHER_SCSI_COMMANDS_NOR_WHO_USES_IT = noClasses().that()
        .resideInAPackage("io.modeldisk.protocol.datamover..")
        .should()
        .dependOnClassesThat(resideInAnyPackage("io.modeldisk.protocol.scsi..", "io.modeldisk.protocol.engine..",
            "io.modeldisk.protocol.initiator..", "io.modeldisk.protocol.striping..")
            .and(not(equivalentTo(ScsiStatus.class))));

    @ArchTest
    static final ArchRule PROTOCOL_PACKAGES_HAVE_NO_CYCLE = noCycle("io.modeldisk.protocol");

    @ArchTest
    static final ArchRule AGGREGATOR_PACKAGES_HAVE_NO_CYCLE = noCycle("io.modeldisk.aggregator");

    @ArchTest
    static final ArchRule FAULT_PACKAGES_HAVE_NO_CYCLE = noCycle("io.modeldisk.fault");

    @ArchTest
    static final ArchRule MOUNT_PACKAGES_HAVE_NO_CYCLE = noCycle("io.modeldisk.mount");

    @ArchTest
    static final ArchRule SERVER_PACKAGES_HAVE_NO_CYCLE = noCycle("io.modeldisk.server");

    /** Of com.sun, the module jdk.management is an API that Java supports. */
    @ArchTest
    static final ArchRule NOTHING_INTERNAL_TO_THE_JDK_AND_NO_REFLECTION_IS_USED = noClasses().should()
        .dependOnClassesThat(resideInAnyPackage("sun..", "com.sun..", "jdk.internal..", "java.lang.reflect..")
            .and(resideOutsideOfPackage("com.sun.management")));

    @ArchTest
    static final ArchRule GRPC_IS_FOR_THE_BENCHES_ALONE = noClasses().that()
        .resideOutsideOfPackage("io.modeldisk.bench.grpc..").should().dependOnClassesThat()
        .resideInAPackage("io.grpc..");

    private static ArchRule knowsOnly(String module, String... below) {
        DescribedPredicate<JavaClass> allowed = resideOutsideOfPackage(OURS).or(resideInAPackage(module));
        return classes().that().resideInAPackage(module).should()
            .onlyDependOnClassesThat(below.length == 0 ? allowed : allowed.or(resideInAnyPackage(below)));
    }

    /** A package's own classes are one slice, each subpackage another. */
    private static ArchRule noCycle(String module) {
        return slices().matching(module + "(**)").should().beFreeOfCycles().allowEmptyShould(true);
    }
}
