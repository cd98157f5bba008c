package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
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

    /** A learner that reads the weights and pushes a gradient of ones, three times. The final weights are -3. */
    private static final String SHELL_LEARNER = """
        set -e
        perl -e 'print pack("f<", 1) x ($ARGV[0] / 4)' "$(stat -c %s "$1")" > "$2"
        for i in 1 2 3; do
            dd if="$1" of=/dev/null bs=1M status=none
            dd if="$2" of="$1" bs=1M conv=fsync,notrunc status=none
        done
        sync -f "$1"
        """;

    private static final String PERL_LEARNER = """
        use strict; use Fcntl; use IO::Handle;
        my ($file) = @ARGV;
        sysopen(my $model, $file, O_RDWR) or die "open: $!";
        my $size = -s $model;
        my $gradient = pack("f<", 1) x ($size / 4);
        for my $i (0 .. 2) {
            sysseek($model, 0, 0); sysread($model, my $weights, $size) == $size or die "read: $!";
            my ($first, $last) = (unpack("f<", $weights), unpack("f<", substr($weights, -4)));
            $first == -$i && $last == -$i or die "iteration $i found $first and $last";
            sysseek($model, 0, 0); syswrite($model, $gradient) == $size or die "write: $!";
            $model->sync or die "fsync: $!";
        }
        """;

    private static final String C_LEARNER = """
        #include <fcntl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/stat.h>
        #include <unistd.h>
        #define CHECK(ok) if (!(ok)) { perror(#ok); return 1; }
        int main(int count, char **arguments) {
            int model = open(arguments[1], O_RDWR);
            struct stat facts;
            CHECK(count == 2 && model >= 0 && fstat(model, &facts) == 0);
            size_t bytes = facts.st_size, floats = bytes / 4;
            float *weights = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
            float *gradient = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
            for (size_t i = 0; i < floats; i++) gradient[i] = 1;
            for (int iteration = 0; iteration < 3; iteration++) {
                CHECK(pread(model, weights, bytes, 0) == (ssize_t) bytes);
                for (size_t i = 0; i < floats; i++) CHECK(weights[i] == -iteration);
                CHECK(pwrite(model, gradient, bytes, 0) == (ssize_t) bytes);
                CHECK(fsync(model) == 0);
            }
            return close(model);
        }
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Path mount(String exchange, Object... options) throws Exception {
        Programs.requireMounting();
        Shards shards = Shards.launch(sandbox, "m", 2, SIZE_BYTES, context -> context.blockSizeBytes(64 << 10));
        Path directory = sandbox.directory("d");
        Object[] all = Stream.concat(Stream.of("--exchange", exchange, "--learner", "l1"), Stream.of(options))
            .toArray();
        Command.mount(sandbox, shards, directory, all).awaitLine("ready: ");
        return directory;
    }

    private static void assertWeights(Path directory, float expected) throws Exception {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(directory.resolve("weights")))
            .order(ByteOrder.LITTLE_ENDIAN);
        float[] all = new float[SIZE_BYTES / 4];
        bytes.asFloatBuffer().get(all);
        float[] wanted = new float[all.length];
        Arrays.fill(wanted, expected);
        assertThat(Arrays.mismatch(all, wanted)).as("index of the first weight that is not %s", expected).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "sync", "overlap"})
    void shellLearnerTrainsThroughAMount(String exchange) throws Exception {
        Programs.require("perl", "perl-base");
        Path directory = mount(exchange);
        sandbox.shell(SHELL_LEARNER, directory.resolve("model"), sandbox.path("gradient")).succeeded();
        assertWeights(directory, -3);
    }

    @Test
    void shellLearnerTrainsThroughAMountWithDigests() throws Exception {
        Programs.require("perl", "perl-base");
        Path directory = mount("sync", "--digests", "crc32c");
        sandbox.shell(SHELL_LEARNER, directory.resolve("model"), sandbox.path("gradient")).succeeded();
        assertWeights(directory, -3);
    }

    /** The buffers of Perl are not page-aligned. */
    @ParameterizedTest
    @ValueSource(strings = {"direct", "sync"})
    void perlLearnerTrainsThroughAMount(String exchange) throws Exception {
        Programs.require("perl", "perl-base");
        Path directory = mount(exchange);
        Path script = sandbox.file("learner.pl", PERL_LEARNER);
        sandbox.run("perl", script.toString(), directory.resolve("model").toString()).succeeded();
        assertWeights(directory, -3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "sync"})
    void learnerWrittenInCTrainsThroughAMount(String exchange) throws Exception {
        Programs.require("gcc", "gcc");
        Path directory = mount(exchange);
        Path source = sandbox.file("learner.c", C_LEARNER);
        sandbox.run("gcc", "-O1", "-o", sandbox.path("learner").toString(), source.toString()).succeeded();
        sandbox.run(sandbox.path("learner").toString(), directory.resolve("model").toString()).succeeded();
        assertWeights(directory, -3);
    }

    @Test
    @Tag("peer")
    void fioReadsBackItsWritesToTheWeights() throws Exception {
        Path directory = mount("direct");
        fio(directory.resolve("weights"), "--rw=randwrite", "--bs=64k", "--verify=crc32c", "--verify_fatal=1");
        fio(directory.resolve("weights"), "--rw=randwrite", "--bsrange=4k-1m", "--blockalign=4k", "--verify=crc32c",
            "--verify_fatal=1");
    }

    @ParameterizedTest
    @Tag("peer")
    @ValueSource(strings = {"4k", "256k", "1m"})
    void fioPullsAndPushesWith16RequestsInFlight(String bytes) throws Exception {
        Path directory = mount("direct");
        fio(directory.resolve("model"), "--rw=read", "--bs=" + bytes);
        fio(directory.resolve("model"), "--rw=write", "--bs=" + bytes, "--zero_buffers", "--end_fsync=1");
        assertWeights(directory, 0);
        JsonNode status = new ObjectMapper().readTree(Files.readString(directory.resolve("status.json")));
        assertThat(status.at("/mount/pushedBytes").asLong()).isEqualTo(WHOLE_BYTES);
        assertThat(status.at("/mount/pulledBytes").asLong()).isGreaterThanOrEqualTo(WHOLE_BYTES);
    }

    private void fio(Path file, String... options) throws Exception {
        Programs.require("fio", "fio");
        String[] fixed = {"fio", "--name=" + file.getFileName(), "--filename=" + file, "--ioengine=libaio",
            "--direct=1",
            "--iodepth=16", "--size=" + WHOLE_BYTES, "--allow_file_create=0", "--overwrite=1"};
        String[] all = Arrays.copyOf(fixed, fixed.length + options.length);
        System.arraycopy(options, 0, all, fixed.length, options.length);
        assertThat(sandbox.run(all).succeeded()).contains("err= 0");
    }

    @Test
    void ddReadsBackTheWeightsThatItWrote() throws Exception {
        Path directory = mount("direct");
        sandbox.shell("head -c %d /dev/urandom > \"$2\" && dd if=\"$2\" of=\"$1\"/weights bs=1M conv=notrunc,fsync"
            .formatted(SIZE_BYTES), directory, sandbox.path("random")).succeeded();
        sandbox.shell("cmp \"$1\"/weights \"$2\" && dd if=\"$1\"/model bs=300 | cmp - \"$2\"", directory,
            sandbox.path("random")).succeeded();
    }

    @ParameterizedTest
    @ValueSource(strings = {"model", "weights"})
    void writeBeyondTheEndOfTheModelFails(String name) throws Exception {
        Path directory = mount("sync");
        Result result = sandbox.shell(
            "dd if=/dev/zero of=\"$1\" bs=4096 count=1 conv=notrunc oflag=seek_bytes seek=" + SIZE_BYTES,
            directory.resolve(name));
        assertThat(result.status()).isNotZero();
        assertThat(result.output()).contains("No space left on device");
        assertThat(Files.size(directory.resolve(name))).isEqualTo(SIZE_BYTES);
    }

    /**
     * Each case is a file name and a command that must fail on that file. The command runs as a user that is neither root nor the
     * owner.
     */
    @ParameterizedTest
    @CsvSource({"model, cat \"$1\"", "weights, cat \"$1\"", "model, head -c 4096 /dev/zero >\"$1\"",
        "weights, head -c 4096 /dev/zero >\"$1\"", "status.json, cat \"$1\"", "., ls \"$1\""})
    void otherUsersCannotReadOrWriteAMount(String name, String command) throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root can run a command as another user");
        Path directory = mount("sync");
        Result result = sandbox.shell(
            "chmod 755 \"$(dirname \"$2\")\" && setpriv --reuid=65534 --regid=65534 --clear-groups bash -c '%s' bash \"$1\""
                .formatted(command),
            directory.resolve(name), directory);
        assertThat(result.status()).as(result.toString()).isNotZero();
        assertThat(result.output()).contains("Permission denied");
        assertWeights(directory, 0);
    }

    @Test
    void statusJsonDescribesTheMountTheModelAndTheShards() throws Exception {
        Path directory = mount("sync");
        JsonNode status = new ObjectMapper().readTree(Files.readString(directory.resolve("status.json")));
        assertThat(status.at("/mount/exchange").asText()).isEqualTo("sync");
        assertThat(status.at("/mount/learner").asText()).isEqualTo("l1");
        assertThat(status.at("/model/sizeBytes").asLong()).isEqualTo(SIZE_BYTES);
        assertThat(status.at("/shards")).hasSize(2);
    }
}
