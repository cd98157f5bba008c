package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests {@code modeldisk doctor} on the machine of the test. */
final class DoctorIT {
    @RegisterExtension
    final Sandbox sandbox = new Sandbox();

    @Test
    void doctorExitsWithStatus1IfARequirementIsMissing() throws Exception {
        Result result = sandbox.run(modeldisk("doctor"));
        // The requirements of a mount over tcp are only those of the groups java, fuse and tcp.
        boolean missing = result.output().lines().anyMatch(line -> line.matches("missing +(java|fuse|tcp) .*"));

        assertThat(result.output()).containsPattern("(ok|missing) +java +Java ").contains(missing
            ? "this machine does not meet "
            : "this machine meets all requirements of mounts over tcp");
        assertThat(result.status()).isEqualTo(missing ? 1 : 0);
    }

    @Test
    void doctorReportsAReachableShard() throws Exception {
        Shards shards = Shards.launch(sandbox, "m", 1, 1 << 20, UnaryOperator.identity());

        assertThat(sandbox.run(modeldisk("doctor", shards.address())).output()).containsPattern(
            "ok +tcp +shard 127.0.0.1:" + shards.ports().getFirst() + " over tcp +the shard accepts connections");
    }

    @Test
    void doctorUsesTheJCudaLibraryOfTheImageToDescribeAGpu() throws Exception {
        Map<String, String> environment = new HashMap<>(EmulatedDriver.environment());
        Path temporary = sandbox.directory("temporary");
        environment.put("JDK_JAVA_OPTIONS", "-Djava.io.tmpdir=" + temporary);
        String output = sandbox.run(environment, modeldisk("doctor")).output();

        assertThat(output).containsPattern("ok +cuda +driver +CUDA 12.6").containsPattern("ok +cuda +cuda:0 +"
            + "cuda:0 \\(emulated 0\\), compute capability 7.0, 256 MiB of memory, 256 MiB free")
            .containsPattern("cuda:0 GPUDirect RDMA +the driver has dma-buf, nvidia_peermem is not loaded");
        // If JCuda does not find its native library in the image, it extracts a copy to the temporary directory.
        assertThat(temporary).isDirectoryNotContaining("glob:**JCuda*");
    }

    @Test
    void doctorDoesNotRequireACudaDriverForMounts() throws Exception {
        Result result = sandbox.run(Map.of("JDK_JAVA_OPTIONS", "-Dmodeldisk.cuda=off"), modeldisk("doctor"));

        assertThat(result.output())
            .containsPattern("missing +cuda +driver +CUDA is turned off by -Dmodeldisk.cuda=off");
        assertThat(result.status())
            .isEqualTo(result.output().contains("this machine meets all requirements") ? 0 : 1);
    }

    @Test
    void doctorReportsAShardThatDoesNotListen() throws Exception {
        sandbox.run(modeldisk("doctor", "modeldisk://127.0.0.1:1/m"))
            .failed(1, "does not respond", "check that `modeldisk serve` is running there");
    }
}
