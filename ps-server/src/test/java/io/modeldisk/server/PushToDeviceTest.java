package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.cuda.Emulator;
import io.modeldisk.aggregator.device.Device;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.block.DeviceTarget;
import io.modeldisk.server.block.DeviceTarget.PushTo;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pushes gradients over iSER to a shard on an emulated GPU whose memory an RDMA device can access. */
@Tag("softroce")
@Timeout(600)
class PushToDeviceTest {
    private static final int PAGE = 4096;
    private static final int BLOCK = 16 * PAGE;
    private static final int SIZE = 8 * BLOCK + PAGE;
    /** The offset of the last page. The gradient of this page is sent with the command, so it arrives in host memory. */
    private static final int LAST = SIZE - PAGE;

    @BeforeEach
    void setUp() {
        assumeTrue(IserProvider.find().unavailabilityCause() == null,
            "this test needs RDMA: " + IserProvider.find().unavailabilityCause());
        Emulator.reset(1);
    }

    private static ParameterServer launch(String consistency, PushTo pushTo) throws IOException {
        return ParameterServer.launch(new ServerContext().model("m").sizeBytes(SIZE).blockSizeBytes(BLOCK)
            .listen(new InetSocketAddress(IserProvider.find().addresses().getFirst(), 0))
            .aggregator("sum", Aggregators.parse("sum"))
            .consistency(consistency).lease(Duration.ofSeconds(60))
            .device(new DeviceTarget(Device.named("cuda:0"), true, pushTo))
            .network(network -> network.access(new AccessPolicy(null, true, List.of()))
                .datamovers(List.of(new TcpPortal.Opener(), IserProvider.find().opener()))));
    }

    private static StripedModel connect(ParameterServer server, String learner) throws IOException {
        return StripedModel.connect(new StripedModelContext(
            new ModelAddress(List.of(server.localAddress()), "m")).datamover(Route.Preference.ISER).learner(learner)
            .sessions(session -> session.connectTimeout(Duration.ofSeconds(60)).commandTimeout(Duration.ofSeconds(60)))
            .reconnectTimeout(Duration.ofSeconds(60)).waitTimeout(Duration.ofSeconds(60)));
    }

    private static void train(ParameterServer server, int rounds) throws Exception {
        SplittableRandom random = new SplittableRandom(rounds);
        float[] weights = new float[SIZE / Float.BYTES];
        try (StripedModel model = connect(server, "learner"); DataMemory memory = DataMemory.allocate(SIZE)) {
            model.join();
            for (int round = 1; round <= rounds; round++) {
                for (int i = 0; i < weights.length; i++) {
                    float gradient = (float) random.nextGaussian();
                    memory.slab(0).setAtIndex(ValueLayout.JAVA_FLOAT, i, gradient);
                    weights[i] += gradient;
                }
                model.push(0, memory, 0, LAST, Cancellation.NONE);
                model.push(LAST, memory, LAST, PAGE, Cancellation.NONE);
                model.pull(0, memory, 0, SIZE, Cancellation.NONE);
                assertThat(memory.slab(0).asSlice(0, SIZE).toArray(ValueLayout.JAVA_FLOAT)).as("round %d", round)
                    .isEqualTo(weights);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"asp, true, true", "bsp, true, false", "bsp, false, false"})
    void rdmaWritesGradientsToDeviceMemory(String consistency, boolean dmaBuf, boolean ordered) throws Exception {
        Emulator.gpuDirect(true, dmaBuf, ordered);
        try (ParameterServer server = launch(consistency, PushTo.DEVICE)) {
            // Soft-RoCE does not support dma-buf.
            assertThat(server.shard().pushPlace()).isEqualTo("device memory by peer memory");
            train(server, 4);
            assertThat(server.shard().traffic().devicePushes.sum()).isGreaterThanOrEqualTo(4)
                .isLessThanOrEqualTo(server.shard().traffic().pushes.sum() - 4);
        }
        assertThat(Emulator.live()).isZero();
    }

    @Test
    void deviceMemoryThatRdmaCannotReachIsRefusedWithTheReasons() throws Exception {
        Emulator.gpuDirect(false, true, true);
        assertThatThrownBy(() -> launch("asp", PushTo.DEVICE)).isInstanceOf(IOException.class)
            .hasMessageContaining("--push-to=device is not possible: ")
            .hasMessageContaining("registration as a dma-buf failed: ibv_reg_dmabuf_mr failed")
            .hasMessageContaining("registration as peer memory, which needs the kernel module nvidia_peermem, failed");
        assertThat(Emulator.live()).isZero();
        Emulator.gpuDirect(false, false, true);
        assertThatThrownBy(() -> launch("asp", PushTo.DEVICE)).isInstanceOf(IOException.class)
            .hasMessageContaining("registration as a dma-buf failed: cuMemGetHandleForAddressRange failed");
        try (ParameterServer server = launch("asp", PushTo.AUTO)) {
            assertThat(server.shard().pushPlace()).isEqualTo("host memory");
            train(server, 2);
            assertThat(server.shard().traffic().devicePushes.sum()).isZero();
        }
        assertThat(Emulator.live()).isZero();
    }

    /** Each learner pushes a different value, so the test detects a gradient that another gradient overwrites too early. */
    @Test
    void learnersThatDisappearDuringAPushLeaveOnlyWholeGradients() throws Exception {
        Emulator.gpuDirect(true, false, false);
        try (ParameterServer server = launch("asp", PushTo.DEVICE)) {
            for (int victim = 0; victim < 4; victim++) {
                StripedModel model = connect(server, "victim" + victim);
                DataMemory memory = DataMemory.allocate(SIZE);
                model.join();
                for (int i = 0; i < SIZE / Float.BYTES; i++) {
                    memory.slab(0).setAtIndex(ValueLayout.JAVA_FLOAT, i, victim + 1);
                }
                CompletableFuture<Void> pushing = CompletableFuture.runAsync(() -> {
                    try {
                        while (true) {
                            model.push(0, memory, 0, LAST, Cancellation.NONE);
                        }
                    } catch (IOException e) {
                        // The connection is closed.
                    }
                });
                TimeUnit.MILLISECONDS.sleep(500);
                model.close();
                pushing.get(60, TimeUnit.SECONDS);
                memory.close();
            }
            List<Float> values = new ArrayList<>();
            try (StripedModel model = connect(server, "reader"); DataMemory memory = DataMemory.allocate(SIZE)) {
                model.read(0, memory, 0, SIZE, Cancellation.NONE);
                for (int page = 0; page < LAST / PAGE; page++) {
                    float first = memory.slab(0).get(ValueLayout.JAVA_FLOAT, (long) page * PAGE);
                    for (int i = 0; i < PAGE; i += Float.BYTES) {
                        assertThat(memory.slab(0).get(ValueLayout.JAVA_FLOAT, (long) page * PAGE + i)).isEqualTo(first);
                    }
                    values.add(first);
                }
            }
            assertThat(values).allMatch(value -> value >= 1 && value == Math.rint(value));
        }
        assertThat(Emulator.live()).isZero();
    }
}
