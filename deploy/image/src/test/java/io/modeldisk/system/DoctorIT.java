package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
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
    void doctorDescribesAGpuWithTheLibraryOfTheImage() throws Exception {
        Map<String, String> environment = new HashMap<>(EmulatedDriver.environment(sandbox));
        Path temporary = sandbox.directory("temporary");
        environment.put("JDK_JAVA_OPTIONS", "-Djava.io.tmpdir=" + temporary);
        String output = sandbox.run(environment, modeldisk("doctor")).output();

        assertThat(output).containsPattern("ok +cuda +driver +CUDA 12.6").containsPattern("ok +cuda +cuda:0 +"
            + "cuda:0 \\(emulated 0\\), compute capability 7.0, 256 MiB of memory, 256 MiB free")
            .containsPattern("cuda:0 GPUDirect RDMA +the driver has dma-buf, nvidia_peermem is not loaded");
        // JCuda copies its library to the temporary folder if it does not find the library in the image.
        assertThat(temporary).isDirectoryNotContaining("glob:**JCuda*");
    }

    @Test
    void machineWithoutAUsableDriverMeetsTheRequirementsOfMounts() throws Exception {
        String output = sandbox.run(Map.of("JDK_JAVA_OPTIONS", "-Dmodeldisk.cuda=off"), modeldisk("doctor", "--json"))
            .output();
        JsonNode findings = new ObjectMapper().readTree(output.substring(output.indexOf('{'))).path("findings");

        assertThat(findings).filteredOn(finding -> finding.path("for").asText().equals("cuda")).singleElement()
            .matches(finding -> finding.path("state").asText().equals("missing") && !finding.path("needed").asBoolean()
                && finding.path("message").asText().startsWith("CUDA is turned off by -Dmodeldisk.cuda=off"));
    }

    @Test
    void doctorReportsAShardThatDoesNotListen() throws Exception {
        Result result = sandbox.run(modeldisk("doctor", "modeldisk://127.0.0.1:1/m"));

        assertThat(result.status()).isEqualTo(1);
        assertThat(result.output()).contains("does not respond", "check that `modeldisk serve` is running there");
    }
}
