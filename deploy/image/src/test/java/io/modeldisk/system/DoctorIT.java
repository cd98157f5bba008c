package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests {@code modeldisk doctor} on this machine. */
final class DoctorIT {
    @RegisterExtension
    final Sandbox sandbox = new Sandbox();

    @Test
    void doctorExitsWithStatus1IfARequirementIsMissing() throws Exception {
        Result result = sandbox.run(modeldisk("doctor", "--json"));
        JsonNode report = new ObjectMapper().readTree(result.output());

        boolean missing = false;
        for (JsonNode finding : report.path("findings")) {
            missing |= finding.path("needed").asBoolean() && finding.path("state").asText().equals("missing");
        }
        assertThat(report.path("findings")).isNotEmpty();
        assertThat(report.path("well").asBoolean()).isEqualTo(!missing);
        assertThat(result.status()).isEqualTo(missing ? 1 : 0);
    }

    @Test
    void doctorReportsAReachableShardAndTheOwnerOfAUsedPort() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Shards shards = Shards.launch(sandbox, "m", 1, 1 << 20, UnaryOperator.identity());
            String output = sandbox.run(modeldisk("doctor", "--listen", "127.0.0.1:" + taken.getLocalPort(),
                shards.address())).output();

            assertThat(output).containsPattern("ok +tcp +shard 127.0.0.1:" + shards.ports().getFirst()
                + " over tcp +the shard accepts connections");
            assertThat(output).contains("in use by process " + ProcessHandle.current().pid() + " (");
        }
    }

    @Test
    void doctorReportsAShardThatDoesNotListen() throws Exception {
        Result result = sandbox.run(modeldisk("doctor", "modeldisk://127.0.0.1:1/m"));

        assertThat(result.status()).isEqualTo(1);
        assertThat(result.output()).contains("does not respond", "check that `modeldisk serve` is running there");
    }
}
