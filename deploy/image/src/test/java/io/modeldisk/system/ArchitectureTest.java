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
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.modeldisk.bench.baseline.BaselineClient;
import io.modeldisk.bench.baseline.BaselineServer;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.protocol.datamover.tcp.TcpSocketOptions;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.nio.channels.SocketChannel;

/** Checks the dependencies between modules and packages. A module may depend only on the modules below it. */
@AnalyzeClasses(packages = "io.modeldisk",
    importOptions = {ImportOption.DoNotIncludeTests.class, ArchitectureTest.WithoutTestJars.class})
final class ArchitectureTest {
    private static final String OURS = "io.modeldisk..";

    /** Excludes the jars with the test classes that modules share. */
    static final class WithoutTestJars implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return !location.contains("-tests.jar");
        }
    }

    private static final String PLATFORM = "io.modeldisk.platform..";
    private static final String PROTOCOL = "io.modeldisk.protocol..";
    private static final String AGGREGATOR = "io.modeldisk.aggregator..";
    private static final String CUDA = "io.modeldisk.aggregator.cuda..";
    private static final String FAULT = "io.modeldisk.fault..";
    private static final String MOUNT = "io.modeldisk.mount..";
    private static final String JNR = "io.modeldisk.mount.fuse.jnr..";
    private static final String SERVER = "io.modeldisk.server..";
    private static final String COMMAND = "io.modeldisk.command..";
    private static final String ENGINE = "io.modeldisk.protocol.engine..";
    private static final String INITIATOR = "io.modeldisk.protocol.initiator..";
    private static final String STRIPING = "io.modeldisk.striping..";
    private static final String RDMA = "io.modeldisk.protocol.rdma..";
    private static final String ISER = "io.modeldisk.protocol.datamover.iser..";
    private static final String BENCH = "io.modeldisk.bench..";

    @ArchTest
    static final ArchRule PLATFORM_DEPENDS_ON_NO_OTHER_MODULE = knowsOnly(PLATFORM);

    @ArchTest
    static final ArchRule PROTOCOL_DEPENDS_ONLY_ON_THE_PLATFORM = knowsOnly(PROTOCOL, PLATFORM);

    @ArchTest
    static final ArchRule AGGREGATOR_DEPENDS_ONLY_ON_THE_PLATFORM = knowsOnly(AGGREGATOR, PLATFORM);

    @ArchTest
    static final ArchRule FAULT_DEPENDS_ONLY_ON_AGGREGATOR_AND_PROTOCOL = knowsOnly(FAULT, AGGREGATOR, PROTOCOL,
        PLATFORM);

    @ArchTest
    static final ArchRule STRIPING_DEPENDS_ONLY_ON_THE_PROTOCOL = knowsOnly(STRIPING, PROTOCOL, PLATFORM);

    @ArchTest
    static final ArchRule MOUNT_DEPENDS_ONLY_ON_STRIPING_AND_THE_PROTOCOL = knowsOnly(MOUNT, STRIPING, PROTOCOL,
        PLATFORM);

    @ArchTest
    static final ArchRule SERVER_DEPENDS_ONLY_ON_FAULT_AGGREGATOR_AND_PROTOCOL = knowsOnly(SERVER, FAULT, AGGREGATOR,
        PROTOCOL,
        PLATFORM);

    /** {@code fault.replica} is allowed to use the client, because a primary is an iSCSI initiator of its backups. */
    @ArchTest
    static final ArchRule SERVER_DOES_NOT_DEPEND_ON_THE_CLIENT = noClasses().that()
        .resideInAnyPackage(ENGINE, SERVER, FAULT).and().resideOutsideOfPackage("io.modeldisk.fault.replica")
        .should().dependOnClassesThat().resideInAnyPackage(INITIATOR, STRIPING, MOUNT);

    @ArchTest
    static final ArchRule BACKUPS_DO_NOT_DEPEND_ON_STRIPING_OR_MOUNTS = noClasses().that()
        .resideInAPackage("io.modeldisk.fault.replica").should().dependOnClassesThat()
        .resideInAnyPackage(STRIPING, MOUNT);

    @ArchTest
    static final ArchRule CLIENT_DOES_NOT_DEPEND_ON_THE_SERVER = noClasses().that()
        .resideInAnyPackage(INITIATOR, STRIPING, MOUNT).should().dependOnClassesThat()
        .resideInAnyPackage(ENGINE, SERVER, FAULT);

    /**
     * The package {@code fault.shard} contains the interfaces through which the module fault-tolerance uses a shard. The
     * interfaces must not depend on their users.
     */
    @ArchTest
    static final ArchRule SHARD_INTERFACE_DOES_NOT_DEPEND_ON_ITS_USERS = noClasses().that()
        .resideInAPackage("io.modeldisk.fault.shard").should().dependOnClassesThat()
        .resideInAnyPackage("io.modeldisk.fault.checkpoint", "io.modeldisk.fault.journal",
            "io.modeldisk.fault.replica", "io.modeldisk.fault.replay");

    @ArchTest
    static final ArchRule UNITS_AND_STATUS_DO_NOT_DEPEND_ON_ROLES_OR_PROCESSES = noClasses().that()
        .resideInAnyPackage("io.modeldisk.server.unit", "io.modeldisk.server.status", "io.modeldisk.server.shard")
        .should().dependOnClassesThat().resideInAnyPackage("io.modeldisk.server", "io.modeldisk.server.role");

    @ArchTest
    static final ArchRule FILES_AND_EXCHANGES_DO_NOT_DEPEND_ON_THE_KERNEL_PROTOCOL = noClasses().that()
        .resideOutsideOfPackages("io.modeldisk.mount.fuse.kernel", JNR).should().dependOnClassesThat()
        .resideInAPackage("io.modeldisk.mount.fuse.kernel");

    @ArchTest
    static final ArchRule ONLY_THE_BENCH_COMMANDS_DEPEND_ON_THE_COMMAND = noClasses().that()
        .resideOutsideOfPackages(COMMAND, "io.modeldisk.bench.command..").should()
        .dependOnClassesThat().resideInAPackage("io.modeldisk.command");

    @ArchTest
    static final ArchRule PDU_DEPENDS_ONLY_ON_THE_PLATFORM = knowsOnly("io.modeldisk.protocol.pdu..", PLATFORM);

    @ArchTest
    static final ArchRule SCSI_DEPENDS_ONLY_ON_THE_PLATFORM = knowsOnly("io.modeldisk.protocol.scsi..", PLATFORM);

    @ArchTest
    static final ArchRule MEMORY_DEPENDS_ONLY_ON_THE_PLATFORM = knowsOnly("io.modeldisk.protocol.memory..", PLATFORM);

    /** Datamovers are allowed to use {@code ScsiStatus}, because a response PDU carries a SCSI status. */
    @ArchTest
    static final ArchRule DATAMOVERS_DO_NOT_DEPEND_ON_SCSI_OR_THEIR_USERS = noClasses().that()
        .resideInAPackage("io.modeldisk.protocol.datamover..")
        .should()
        .dependOnClassesThat(resideInAnyPackage("io.modeldisk.protocol.scsi..", ENGINE, INITIATOR, STRIPING)
            .and(not(equivalentTo(ScsiStatus.class))));

    @ArchTest
    static final ArchRule ONLY_RDMA_AND_ISER_DEPEND_ON_DISNI = noClasses().that().resideOutsideOfPackages(RDMA, ISER)
        .should().dependOnClassesThat().resideInAnyPackage("com.ibm.disni..", RDMA);

    @ArchTest
    static final ArchRule ONLY_THE_CUDA_AGGREGATORS_DEPEND_ON_JCUDA = noClasses().that()
        .resideOutsideOfPackage(CUDA).should().dependOnClassesThat().resideInAPackage("jcuda..");

    @ArchTest
    static final ArchRule ONLY_DOCTOR_AND_BENCH_DEPEND_ON_THE_CUDA_AGGREGATORS = noClasses().that()
        .resideOutsideOfPackages(CUDA, "io.modeldisk.doctor", "io.modeldisk.bench.aggregator").should()
        .dependOnClassesThat().resideInAPackage(CUDA);

    /** The FUSE packages are allowed to use {@code DataMemory}, because FUSE requests carry buffers. */
    @ArchTest
    static final ArchRule FUSE_DOES_NOT_DEPEND_ON_THE_MODEL = noClasses().that()
        .resideInAPackage("io.modeldisk.mount.fuse..")
        .should().dependOnClassesThat(resideInAnyPackage(PROTOCOL, STRIPING, "io.modeldisk.mount.file..",
            "io.modeldisk.mount.exchange..", "io.modeldisk.mount.scheduling..", "io.modeldisk.mount.trace..")
            .and(not(equivalentTo(DataMemory.class))));

    @ArchTest
    static final ArchRule ONLY_THE_JNR_BINDING_DEPENDS_ON_JNR = noClasses().that()
        .resideOutsideOfPackage(JNR).should().dependOnClassesThat()
        .resideInAnyPackage("jnr..", "ru.serce..", JNR);

    @ArchTest
    static final ArchRule SCHEDULING_DEPENDS_ONLY_ON_THE_PLATFORM = knowsOnly("io.modeldisk.mount.scheduling..",
        PLATFORM);

    @ArchTest
    static final ArchRule ONLY_COORDINATION_DEPENDS_ON_ZOOKEEPER = noClasses().that()
        .resideOutsideOfPackage("io.modeldisk.fault.coordination").should().dependOnClassesThat()
        .resideInAnyPackage("org.apache.zookeeper..", "org.apache.curator..");

    /** Cycles between packages are forbidden. A package does not include its subpackages. */
    @ArchTest
    static final ArchRule PACKAGES_HAVE_NO_CYCLE = slices().matching("io.modeldisk.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule ONLY_THREAD_NAME_CREATES_THREADS = noClasses().that()
        .resideOutsideOfPackage(BENCH).and()
        .doNotHaveFullyQualifiedName(ThreadName.class.getName())
        .should().callMethod(Thread.class, "ofPlatform").orShould().callMethod(Thread.class, "ofVirtual")
        .orShould().callMethod(Thread.class, "startVirtualThread", Runnable.class)
        .orShould().callConstructor(Thread.class, Runnable.class)
        .orShould().callConstructor(Thread.class, Runnable.class, String.class);

    /** The two allowed {@code com.sun} packages are supported APIs of the modules jdk.management and jdk.httpserver. */
    @ArchTest
    static final ArchRule NO_CLASS_USES_JDK_INTERNALS_OR_REFLECTION = noClasses().should()
        .dependOnClassesThat(resideInAnyPackage("sun..", "com.sun..", "jdk.internal..", "java.lang.reflect..")
            .and(not(resideInAnyPackage("com.sun.management", "com.sun.net.httpserver"))));

    @ArchTest
    static final ArchRule ONLY_BENCHES_DEPEND_ON_CHARTS_AND_HISTOGRAMS = noClasses().that()
        .resideOutsideOfPackage(BENCH).should().dependOnClassesThat()
        .resideInAnyPackage("org.knowm..", "org.HdrHistogram..", BENCH);

    @ArchTest
    static final ArchRule ONLY_BENCH_GRPC_DEPENDS_ON_GRPC = noClasses().that()
        .resideOutsideOfPackage("io.modeldisk.bench.grpc..").should().dependOnClassesThat()
        .resideInAPackage("io.grpc..");

    /** The benchmark baseline must set the same socket options as the protocol, so that the comparison is fair. */
    @ArchTest
    static final ArchRule BENCHMARK_BASELINE_SETS_THE_SAME_SOCKET_OPTIONS_AS_THE_PROTOCOL = classes().that()
        .belongToAnyOf(BaselineClient.class, BaselineServer.class).should()
        .callMethod(TcpSocketOptions.class, "apply", SocketChannel.class);

    private static ArchRule knowsOnly(String module, String... below) {
        DescribedPredicate<JavaClass> allowed = resideOutsideOfPackage(OURS).or(resideInAPackage(module));
        return classes().that().resideInAPackage(module).should()
            .onlyDependOnClassesThat(below.length == 0 ? allowed : allowed.or(resideInAnyPackage(below)));
    }
}
