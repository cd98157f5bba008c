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
import io.modeldisk.bench.baseline.BaselineClient;
import io.modeldisk.bench.baseline.BaselineServer;
import io.modeldisk.protocol.datamover.tcp.TcpSocketOptions;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.nio.channels.SocketChannel;

/** Dependencies point down: DESIGN.md, section 2, and what each package-info says. */
@AnalyzeClasses(packages = "io.modeldisk", importOptions = ImportOption.DoNotIncludeTests.class)
final class ArchitectureTest {
    private static final String OURS = "io.modeldisk..";
    private static final String PLATFORM = "io.modeldisk.platform..";
    private static final String PROTOCOL = "io.modeldisk.protocol..";
    private static final String AGGREGATOR = "io.modeldisk.aggregator..";
    private static final String FAULT = "io.modeldisk.fault..";
    private static final String MOUNT = "io.modeldisk.mount..";
    private static final String SERVER = "io.modeldisk.server..";
    private static final String COMMAND = "io.modeldisk.command..";
    private static final String ENGINE = "io.modeldisk.protocol.engine..";
    private static final String INITIATOR = "io.modeldisk.protocol.initiator..";
    private static final String STRIPING = "io.modeldisk.protocol.striping..";
    private static final String RDMA = "io.modeldisk.protocol.rdma..";
    private static final String ISER = "io.modeldisk.protocol.datamover.iser..";
    private static final String BENCH = "io.modeldisk.bench..";
    private static final String PICTURE = "io.modeldisk.picture..";
    private static final String TIMELINE = "io.modeldisk.timeline..";

    @ArchTest
    static final ArchRule PLATFORM_KNOWS_NO_OTHER_MODULE = knowsOnly(PLATFORM);

    @ArchTest
    static final ArchRule PROTOCOL_KNOWS_ONLY_THE_PLATFORM = knowsOnly(PROTOCOL, PLATFORM);

    @ArchTest
    static final ArchRule AGGREGATOR_KNOWS_ONLY_THE_PLATFORM = knowsOnly(AGGREGATOR, PLATFORM);

    @ArchTest
    static final ArchRule FAULT_KNOWS_ONLY_THE_PLATFORM = knowsOnly(FAULT, PLATFORM);

    @ArchTest
    static final ArchRule MOUNT_KNOWS_ONLY_THE_PROTOCOL = knowsOnly(MOUNT, PROTOCOL, PLATFORM);

    @ArchTest
    static final ArchRule SERVER_KNOWS_FAULT_AGGREGATOR_AND_PROTOCOL = knowsOnly(SERVER, FAULT, AGGREGATOR, PROTOCOL,
        PLATFORM);

    @ArchTest
    static final ArchRule SERVER_DOES_NOT_SEE_THE_CLIENT = noClasses().that().resideInAnyPackage(ENGINE, SERVER)
        .should().dependOnClassesThat().resideInAnyPackage(INITIATOR, STRIPING, MOUNT);

    @ArchTest
    static final ArchRule CLIENT_DOES_NOT_SEE_THE_SERVER = noClasses().that()
        .resideInAnyPackage(INITIATOR, STRIPING, MOUNT).should().dependOnClassesThat()
        .resideInAnyPackage(ENGINE, SERVER);

    @ArchTest
    static final ArchRule ONLY_THE_COMMAND_AND_ITS_BENCHES_KNOW_THE_COMMAND = noClasses().that()
        .resideOutsideOfPackages(COMMAND, "io.modeldisk.bench.command..").should()
        .dependOnClassesThat().resideInAPackage("io.modeldisk.command");

    @ArchTest
    static final ArchRule PDU_SCSI_AND_MEMORY_STAND_ALONE = slices()
        .matching("io.modeldisk.protocol.(pdu|scsi|memory)..")
        .should().notDependOnEachOther();

    @ArchTest
    static final ArchRule PDU_KNOWS_ONLY_THE_PLATFORM = knowsOnly("io.modeldisk.protocol.pdu..", PLATFORM);

    @ArchTest
    static final ArchRule SCSI_KNOWS_ONLY_THE_PLATFORM = knowsOnly("io.modeldisk.protocol.scsi..", PLATFORM);

    @ArchTest
    static final ArchRule MEMORY_KNOWS_ONLY_THE_PLATFORM = knowsOnly("io.modeldisk.protocol.memory..", PLATFORM);

    /** A response PDU carries a SCSI status. */
    @ArchTest
    static final ArchRule DATAMOVERS_KNOW_NEITHER_SCSI_NOR_THEIR_USERS = noClasses().that()
        .resideInAPackage("io.modeldisk.protocol.datamover..")
        .should()
        .dependOnClassesThat(resideInAnyPackage("io.modeldisk.protocol.scsi..", ENGINE, INITIATOR, STRIPING)
            .and(not(equivalentTo(ScsiStatus.class))));

    @ArchTest
    static final ArchRule ONLY_RDMA_AND_ISER_KNOW_DISNI = noClasses().that().resideOutsideOfPackages(RDMA, ISER)
        .should().dependOnClassesThat().resideInAnyPackage("com.ibm.disni..", RDMA);

    /** Requests carry buffers and can be cancelled; models and gradients are the files' business. */
    @ArchTest
    static final ArchRule FUSE_KNOWS_NO_MODEL = noClasses().that().resideInAPackage("io.modeldisk.mount.fuse..")
        .should().dependOnClassesThat(resideInAnyPackage(PROTOCOL, "io.modeldisk.mount.file..",
            "io.modeldisk.mount.exchange..", "io.modeldisk.mount.scheduling..", "io.modeldisk.mount.trace..")
            .and(not(equivalentTo(DataMemory.class))));

    @ArchTest
    static final ArchRule SCHEDULING_KNOWS_ONLY_THE_CLOCK = knowsOnly("io.modeldisk.mount.scheduling..", PLATFORM);

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

    @ArchTest
    static final ArchRule BENCH_PACKAGES_HAVE_NO_CYCLE = noCycle("io.modeldisk.bench");

    /** Of com.sun, only the module jdk.management is a supported API. */
    @ArchTest
    static final ArchRule NO_CLASS_USES_JDK_INTERNALS_OR_REFLECTION = noClasses().should()
        .dependOnClassesThat(resideInAnyPackage("sun..", "com.sun..", "jdk.internal..", "java.lang.reflect..")
            .and(resideOutsideOfPackage("com.sun.management")));

    @ArchTest
    static final ArchRule ONLY_BENCHES_KNOW_CHARTS_AND_HISTOGRAMS = noClasses().that()
        .resideOutsideOfPackages(BENCH, PICTURE, TIMELINE).should().dependOnClassesThat()
        .resideInAnyPackage("org.knowm..", "org.HdrHistogram..", BENCH, PICTURE, TIMELINE);

    @ArchTest
    static final ArchRule ONLY_BENCH_GRPC_KNOWS_GRPC = noClasses().that()
        .resideOutsideOfPackage("io.modeldisk.bench.grpc..").should().dependOnClassesThat()
        .resideInAPackage("io.grpc..");

    /** The protocol is compared with sockets of the same options. */
    @ArchTest
    static final ArchRule BASELINE_SETS_THE_SOCKET_OPTIONS_OF_THE_PRODUCT = classes().that()
        .belongToAnyOf(BaselineClient.class, BaselineServer.class).should()
        .callMethod(TcpSocketOptions.class, "apply", SocketChannel.class);

    private static ArchRule knowsOnly(String module, String... below) {
        DescribedPredicate<JavaClass> allowed = resideOutsideOfPackage(OURS).or(resideInAPackage(module));
        return classes().that().resideInAPackage(module).should()
            .onlyDependOnClassesThat(below.length == 0 ? allowed : allowed.or(resideInAnyPackage(below)));
    }

    /** The classes of a package are one slice, each of its subpackages another. */
    private static ArchRule noCycle(String module) {
        return slices().matching(module + "(**)").should().beFreeOfCycles().allowEmptyShould(true);
    }
}
