package io.modeldisk.bench.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.bench.load.Direction;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class GrpcServerTest {
    private static final int MODEL_BYTES = 9 << 20;
    private static final int LARGEST = 8 << 20;

    @AutoClose
    private GrpcServer server;

    @BeforeEach
    void serve() throws IOException {
        server = GrpcServer.open(new InetSocketAddress("127.0.0.1", 0), MODEL_BYTES);
    }

    private GrpcClient client(long modelBytes) {
        return new GrpcClient(server.localAddress(), modelBytes, LARGEST);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4096, 100_000, 1 << 20, LARGEST})
    void grpcClientRecordsTheLatencyOfEveryPushAndPull(int bytes) throws IOException {
        Histogram nanoseconds = new Histogram(3);
        try (GrpcClient client = client(MODEL_BYTES)) {
            client.pingPong(Direction.PUSH, bytes, 3, nanoseconds);
            // The client checks the pulled weights.
            client.pingPong(Direction.PULL, bytes, 3, nanoseconds);
        }

        assertThat(nanoseconds.getTotalCount()).isEqualTo(6);
    }

    @Test
    void grpcServerRefusesAPullOutsideTheModel() {
        try (GrpcClient client = client(4L * MODEL_BYTES)) {
            assertThatThrownBy(() -> client.pingPong(Direction.PULL, LARGEST, 2, new Histogram(3)))
                .isInstanceOf(IOException.class).hasMessageContaining("is outside the model of " + MODEL_BYTES);
        }
    }
}
