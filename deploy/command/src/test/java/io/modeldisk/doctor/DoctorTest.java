package io.modeldisk.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.aggregator.cuda.CudaReport;
import io.modeldisk.doctor.Finding.Area;
import io.modeldisk.doctor.Finding.State;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.striping.ModelAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class DoctorTest {
    private static final Set<Area> FOR_TCP = Doctor.needs(List.of(Route.Preference.TCP));
    private static final Set<Area> FOR_ISER = Doctor.needs(List.of(Route.Preference.ISER));

    private static Report examine(FakeMachine machine) {
        return new Doctor(machine).examine(null, List.of(Route.Preference.TCP), null);
    }

    private static Finding of(Report report, String subject) {
        return report.findings().stream().filter(finding -> finding.subject().equals(subject)).findFirst()
            .orElseThrow(() -> new AssertionError("there is no finding of '" + subject + "' in " + report.findings()));
    }

    @Test
    void machineWithoutRdmaIsReadyForTcpButNotForIser() {
        Report report = examine(new FakeMachine());

        assertThat(report.isWell(FOR_TCP)).isTrue();
        assertThat(report.isWell(Doctor.needs(List.of(Route.Preference.SHM)))).isTrue();
        assertThat(report.isWell(FOR_ISER)).isFalse();
        assertThat(of(report, "RDMA device").message()).contains("rdma link add rxe0");
    }

    @Test
    void machineWithRdmaIsReadyForIser() {
        Report report = examine(FakeMachine.withRdma().withGpu());

        assertThat(report.isWell(FOR_ISER)).isTrue();
        assertThat(report.findings()).extracting(Finding::state).containsOnly(State.OK);
        assertThat(of(report, "rxe0 port 1").message()).isEqualTo("active, Ethernet, 2.5 Gb/sec (1X SDR)");
        assertThat(of(report, "rxe0 port 1 GID 1").message()).contains("ffff:0a09:0001", "RoCE v2");
    }

    /**
     * A defect of a machine that prevents a mount.
     *
     * @param ofRdma true if the defect prevents only mounts over iser
     * @param advice a part of the message in which the doctor reports the defect
     */
    private record Defect(boolean ofRdma, String subject, String advice, Consumer<FakeMachine> change) {}

    static List<Defect> defectThatPreventsAMountIsReportedWithAdvice() {
        return List.of(new Defect(false, "Java", "install Java 25", machine -> machine.javaVersion = 21),
            new Defect(false, "native access", "--enable-native-access", machine -> machine.mayCallNative = false),
            new Defect(false, "Vector API", "jdk.incubator.vector", machine -> machine.modules.clear()),
            new Defect(false, "/dev/fuse", "modprobe fuse", machine -> machine.devices.clear()),
            new Defect(false, "/dev/fuse", "chmod 666", machine -> {
                machine.devices.clear();
                machine.files.put("/dev/fuse", "");
            }),
            new Defect(false, "kernel", "does not list fuse",
                machine -> machine.files.put("/proc/filesystems", "nodev\tproc\n\tfuseblk\n")),
            new Defect(false, "mounting", "install the package fuse3", machine -> machine.programs.clear()),
            new Defect(false, "mounting", "--cap-add SYS_ADMIN", machine -> {
                machine.programs.clear();
                machine.files.put("/proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t0000000000000001\n");
            }),
            new Defect(true, "libibverbs.so.1", "libibverbs1", machine -> machine.libraries.remove("libibverbs.so.1")),
            new Defect(true, "rxe0 port 1", "the port state is 1: DOWN",
                machine -> machine.files.put("/sys/class/infiniband/rxe0/ports/1/state", "1: DOWN\n")),
            new Defect(true, "rxe0 port 1 GID", "no GID has an IPv4 address",
                machine -> machine.files.remove("/sys/class/infiniband/rxe0/ports/1/gids/1")),
            new Defect(true, "/dev/infiniband/rdma_cm", "modprobe rdma_ucm",
                machine -> machine.devices.remove("/dev/infiniband/rdma_cm")),
            new Defect(true, "libdisni", "built without",
                machine -> machine.rdmaObstacle = "modeldisk was built without libdisni"));
    }

    @ParameterizedTest
    @MethodSource
    void defectThatPreventsAMountIsReportedWithAdvice(Defect defect) {
        FakeMachine machine = defect.ofRdma ? FakeMachine.withRdma() : new FakeMachine();
        defect.change.accept(machine);

        Report report = examine(machine);

        assertThat(report.isWell(FOR_ISER)).isFalse();
        assertThat(report.isWell(FOR_TCP)).isEqualTo(defect.ofRdma);
        assertThat(of(report, defect.subject).state()).isEqualTo(State.MISSING);
        assertThat(of(report, defect.subject).message()).contains(defect.advice);
    }

    @Test
    void rootCanMountWithoutFusermount() {
        FakeMachine machine = new FakeMachine();
        machine.programs.clear();
        machine.files.put("/proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n");

        assertThat(of(examine(machine), "mounting").message()).isEqualTo("root may mount");
    }

    @Test
    void doctorDescribesTheGpu() {
        Report report = examine(new FakeMachine().withGpu());

        assertThat(of(report, "driver").message()).isEqualTo("CUDA 12.6, kernel module 580.159.04");
        assertThat(of(report, "cuda:0").message())
            .isEqualTo("cuda:0 (NVIDIA H100), compute capability 9.0, 80 GiB of memory, 79 GiB free, PCI 0000:3b:00.0");
        assertThat(of(report, "cuda:0 GPUDirect RDMA").message())
            .isEqualTo("the driver has dma-buf, nvidia_peermem is not loaded; not tried, because RDMA cannot be used");
    }

    @Test
    void versionOfTheDriverIsUnknownWithoutItsFileInProc() {
        FakeMachine machine = new FakeMachine().withGpu();
        machine.files.keySet().removeIf(file -> file.contains("nvidia"));
        Report report = examine(machine);

        assertThat(of(report, "driver").message()).isEqualTo("CUDA 12.6, kernel module of an unknown version");
    }

    @Test
    void missingDriverOrUnusableDeviceConcernsOnlyShardsOnAGpu() {
        FakeMachine machine = new FakeMachine();
        assertThat(of(examine(machine), "driver")).isEqualTo(
            new Finding(State.MISSING, Area.CUDA, "driver",
                "NVIDIA's driver is missing (a container needs --gpus all)"));
        machine.cuda = new CudaReport(null, "12.6",
            List.of(new CudaReport.Device("cuda:0", "too old", null, 0, 0, null, false, false)));
        Report report = examine(machine);
        assertThat(of(report, "cuda:0")).isEqualTo(new Finding(State.MISSING, Area.CUDA, "cuda:0", "too old"));
        assertThat(report.isWell(FOR_TCP)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"false, false, true, peer memory, WARNING, RDMA devices cannot access",
        "true, false, false, , WARNING, 'does not reach the memory: refused; pushes over iser go through pinned host memory'",
        "true, false, true, peer memory, OK, 'by peer memory; the driver has no dma-buf, nvidia_peermem is loaded'",
        "false, true, true, dma-buf, OK, 'by dma-buf; the driver has dma-buf, nvidia_peermem is loaded'"})
    void doctorReportsWhetherRdmaDevicesCanAccessTheGpu(
        boolean rdma, boolean dmaBuf, boolean peerMemory, String way, State state, String message) {
        FakeMachine machine = FakeMachine.withRdma().withGpu();
        machine.gpuDirect = new GpuDirectTrial(way, way == null ? "refused" : null);
        machine.cuda = new CudaReport(null, "12.6", List.of(
            new CudaReport.Device("cuda:0 (GPU)", null, "9.0", 1, 1, "0000:3b:00.0", rdma, dmaBuf)));
        if (peerMemory) {
            machine.files.put("/sys/module/nvidia_peermem", "");
        }
        Finding finding = of(examine(machine), "cuda:0 GPUDirect RDMA");

        assertThat(finding.state()).isEqualTo(state);
        assertThat(finding.message()).contains(message);
    }

    @Test
    void smallMtuAndLowLimitsAreReportedAsWarnings() {
        FakeMachine machine = FakeMachine.withRdma();
        machine.files.put("/sys/class/net/eth0/mtu", "1500\n");
        machine.files.put("/proc/self/limits",
            "Max open files  256 4096 files\nMax locked memory  65536 65536 bytes\n");

        Report report = examine(machine);

        assertThat(report.isWell(FOR_ISER)).isTrue();
        assertThat(of(report, "rxe0 port 1 MTU").message()).contains("ip link set eth0 mtu 4200");
        assertThat(of(report, "locked memory").message()).startsWith("64 KiB").contains("ulimit -l unlimited");
        assertThat(of(report, "open files").state()).isEqualTo(State.WARNING);
    }

    @Test
    void doctorReportsAShardAsMissingOnlyOverTheDatamoverThatFails() {
        FakeMachine machine = new FakeMachine();
        machine.shardObstacles.putAll(Map.of("shm", "has no socket"));
        Report report = new Doctor(machine).examine(ModelAddress.parse("modeldisk://127.0.0.1:3260/m"),
            List.of(Route.Preference.TCP, Route.Preference.SHM), null);

        assertThat(of(report, "shard 127.0.0.1:3260 over tcp").state()).isEqualTo(State.OK);
        assertThat(of(report, "shard 127.0.0.1:3260 over shm").message()).isEqualTo("has no socket");
        assertThat(report.isWell(FOR_TCP)).isTrue();
        assertThat(report.isWell(Doctor.needs(List.of(Route.Preference.TCP, Route.Preference.SHM)))).isFalse();
    }
}
