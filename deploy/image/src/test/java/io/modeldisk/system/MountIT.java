package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that programs without modeldisk code can use a mounted model through POSIX calls. */
@Tag("mount")
@Timeout(120)
final class MountIT {
    /** The size of the model. Both shards have blocks, and the size is not a multiple of the logical block size. */
    private static final int SIZE_BYTES = (4 << 20) + 5000;
    private static final int WHOLE_BYTES = 4 << 20;

    /** A learner in shell. It reads the weights and pushes a gradient of ones three times, so the final weights are -3. */
    private static final String SHELL_LEARNER = """
        set -e
        perl -e 'print pack("f<", 1) x ($ARGV[0] / 4)' "$(stat -c %s "$1")" > "$2"
        for i in 1 2 3; do
            dd if="$1" of=/dev/null bs=1M status=none
            dd if="$2" of="$1" bs=1M conv=fsync,notrunc status=none
        done
        sync -f "$1"
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Path mount(String exchange, Object... options) throws Exception {
        Programs.requireMounting();
        Shards shards = Shards.launch(sandbox, "m", 2, SIZE_BYTES, context -> context.blockSizeBytes(64 << 10));
        Path directory = sandbox.directory("d");
        Command.mounted(sandbox, shards, directory, "--exchange", exchange, "--learner", "l1", options);
        return directory;
    }

    /** {@code ExamplesIT} tests learners in C, Perl and Python. */
    @ParameterizedTest
    @CsvSource({"direct, none", "sync, crc32c", "overlap, none"})
    void shellLearnerTrainsThroughAMount(String exchange, String digests) throws Exception {
        Programs.require("perl", "perl-base");
        Path directory = mount(exchange, "--digests", digests);
        sandbox.shell(SHELL_LEARNER, directory.resolve("model"), sandbox.path("gradient")).succeeded();
        Weights.assertAll(directory, SIZE_BYTES, -3);
    }

    @Test
    @Tag("peer")
    void fioReadsBackWhatItWroteToTheWeights() throws Exception {
        Path directory = mount("direct");
        fio(directory.resolve("weights"), "--rw=randwrite", "--bs=64k", "--verify=crc32c", "--verify_fatal=1");
        fio(directory.resolve("weights"), "--rw=randwrite", "--bsrange=4k-1m", "--blockalign=4k", "--verify=crc32c",
            "--verify_fatal=1");
    }

    @ParameterizedTest
    @Tag("peer")
    @ValueSource(strings = {"4k", "1m"})
    void fioPushesAndPullsTheModelWith16RequestsInFlight(String bytes) throws Exception {
        Path directory = mount("direct");
        fio(directory.resolve("model"), "--rw=read", "--bs=" + bytes);
        fio(directory.resolve("model"), "--rw=write", "--bs=" + bytes, "--zero_buffers", "--end_fsync=1");
        Weights.assertAll(directory, SIZE_BYTES, 0);
        JsonNode status = new ObjectMapper().readTree(Files.readString(directory.resolve("status.json")));
        assertThat(status.at("/mount/pushedBytes").asLong()).isEqualTo(WHOLE_BYTES);
        assertThat(status.at("/mount/pulledBytes").asLong()).isGreaterThanOrEqualTo(WHOLE_BYTES);
    }

    private void fio(Path file, String... options) throws Exception {
        Programs.require("fio", "fio");
        assertThat(sandbox.run("fio", "--name=" + file.getFileName(), "--filename=" + file, "--ioengine=libaio",
            "--direct=1", "--iodepth=16", "--size=" + WHOLE_BYTES, "--allow_file_create=0", "--overwrite=1", options)
            .succeeded()).contains("err= 0");
    }
}
