package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RightsTest {
    private static final int SIZE = 8192;

    private final DataMemory memory = DataMemory.allocate(SIZE);
    private ParameterServer server;

    @BeforeEach
    void serve() throws IOException {
        ChapSecrets secrets = ChapSecrets.parse("""
            peer old      theSecretOfTheOldLine
            peer operator theSecretOfOperator1 may=raw
            peer monitor  theSecretOfTheMonitor may=status
            """, "test");
        server = ParameterServer.launch(new ServerContext().model("m").sizeBytes(SIZE).blockSizeBytes(4096)
            .aggregator("sum", new SumAggregator())
            .network(network -> network.access(AccessPolicy.THIS_MACHINE.withSecrets(secrets)))
            .listen(new InetSocketAddress("127.0.0.1", 0)));
    }

    @AfterEach
    void close() {
        server.close();
        memory.close();
    }

    private StripedModel connect(String user, String secret) throws IOException {
        return StripedModel.connect(new StripedModelContext(
            ModelAddress.parse("modeldisk://127.0.0.1:" + server.localAddress().getPort() + "/m"))
            .sessions(session -> session.secrets(ChapSecrets.parse("self " + user + " " + secret, "test"))));
    }

    @Test
    void userWithDefaultRightsMayTrainButNotWriteWeights() throws Exception {
        try (StripedModel model = connect("old", "theSecretOfTheOldLine")) {
            model.join();
            model.push(0, memory, 0, SIZE, Cancellation.NONE);
            model.pull(0, memory, 0, SIZE, Cancellation.NONE);
            model.read(0, memory, 0, SIZE, Cancellation.NONE);
            assertThatThrownBy(() -> model.write(0, memory, 0, SIZE, Cancellation.NONE))
                .isInstanceOf(IOException.class);
            assertThat(model.status()).hasSize(1);
        }
    }

    @Test
    void userWithOnlyTheRawRightMayUseOnlyLun1() throws Exception {
        try (StripedModel model = connect("operator", "theSecretOfOperator1")) {
            model.write(0, memory, 0, SIZE, Cancellation.NONE);
            model.read(0, memory, 0, SIZE, Cancellation.NONE);
            assertThatThrownBy(model::join).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> model.pull(0, memory, 0, SIZE, Cancellation.NONE)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void userWithOnlyTheStatusRightMayReadOnlyTheStatus() throws Exception {
        try (StripedModel model = connect("monitor", "theSecretOfTheMonitor")) {
            assertThat(model.status()).hasSize(1);
            assertThat(model.counters().learners()).isZero();
            assertThatThrownBy(() -> model.read(0, memory, 0, SIZE, Cancellation.NONE)).isInstanceOf(IOException.class);
            assertThatThrownBy(model::join).isInstanceOf(IOException.class);
        }
    }
}
