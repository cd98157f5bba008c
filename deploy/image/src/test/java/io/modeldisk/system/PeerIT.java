package io.modeldisk.system;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.aggregator.Aggregators;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the initiators libiscsi and QEMU can use a shard. */
@Tag("peer")
@Timeout(120)
final class PeerIT {
    private static final long SIZE_BYTES = 64 << 20;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Shards launch() throws Exception {
        return Shards.launch(sandbox, "m", 1, SIZE_BYTES,
            context -> context.aggregator("sgd:lr=0.5", Aggregators.parse("sgd:lr=0.5")));
    }

    private String qemuIo(String unit, String... commands) throws Exception {
        Object[] options = Stream.of(commands).flatMap(command -> Stream.of("-c", command)).toArray();
        String output = sandbox.run("qemu-io", "-f", "raw", options, unit).succeeded();
        assertThat(output).doesNotContain("Pattern verification failed", "failed:");
        return output;
    }

    @Test
    void iscsiLsFindsTheTargetAndItsFourLogicalUnits() throws Exception {
        Programs.require("iscsi-ls", "libiscsi-bin");
        Shards shards = Command.serveAll(sandbox, "listed", 1, "--size", "64MiB");
        String list = sandbox.run("iscsi-ls", "-s", shards.portal()).succeeded();
        assertThat(list.lines()).filteredOn(line -> line.startsWith("Target:"))
            .containsExactly(
                "Target:iqn.2026-11.io.modeldisk:listed Portal:127.0.0.1:" + shards.ports().getFirst() + ",1");
        assertThat(list.lines()).filteredOn(line -> line.startsWith("Lun:")).hasSize(4)
            .allMatch(line -> line.contains("DIRECT_ACCESS"));
    }

    @ParameterizedTest
    @CsvSource({"0, train, 1", "1, raw, 1", "3, bf16, 2", "4, f16, 2"})
    void libiscsiToolsReadEachLogicalUnit(int lun, String product, int part) throws Exception {
        Programs.require("iscsi-inq", "libiscsi-bin");
        String unit = launch().unit(lun);
        assertThat(sandbox.run("iscsi-inq", unit).succeeded()).contains("DIRECT_ACCESS", "Vendor:MODELDSK",
            "Product:modeldisk " + product);
        String pages = sandbox.run("iscsi-inq", "-e", "1", "-c", "0", unit).succeeded();
        assertThat(pages).contains("0x80", "0x83", "0xb0", "0xb1", "0xc0", "0xc1");
        for (int page : new int[]{0x80, 0x83, 0xB0, 0xB1}) {
            sandbox.run("iscsi-inq", "-e", "1", "-c", page, unit).succeeded();
        }
        assertThat(sandbox.run("iscsi-readcapacity16", unit).succeeded())
            .contains("RETURNED LOGICAL BLOCK ADDRESS:" + (SIZE_BYTES / part / 4096 - 1),
                "LOGICAL BLOCK LENGTH IN BYTES:4096", "Total size:" + SIZE_BYTES / part);
        assertThat(sandbox.run("iscsi-perf", "-r", "-t", "1", "-b", "64", unit).succeeded()).contains("finished.")
            .doesNotContainIgnoringCase("error").doesNotContainIgnoringCase("failed");
    }

    @Test
    void loginToAnUnknownTargetNameFails() throws Exception {
        Programs.require("iscsi-inq", "libiscsi-bin");
        sandbox.run("iscsi-inq", launch().portal() + "/iqn.2026-11.io.modeldisk:other/0").failed("Target not found");
    }

    @Test
    void qemuIoReadsBackUnalignedWrites() throws Exception {
        Programs.require("qemu-io", "qemu-utils, qemu-block-extra");
        Shards shards = launch();
        assertThat(sandbox.run("qemu-img", "info", shards.unit(1)).succeeded())
            .contains("file format: raw", "(" + SIZE_BYTES + " bytes)");
        qemuIo(shards.unit(1), "write -P 0x11 0 8M", "write -P 0x22 252k 8k", "write -P 0x33 4000000 3000001",
            "write -P 0x44 100 17", "flush",
            "read -P 0x11 0 100", "read -P 0x44 100 17", "read -P 0x11 117 257931", "read -P 0x22 252k 8k",
            "read -P 0x33 4000000 3000001", "read -P 0x11 7000001 1388607", "read -P 0 8M 1M");
        qemuIo(shards.unit(0), "read -P 0x44 100 17", "read -P 0x22 252k 8k", "read -P 0x33 4000000 3000001");
    }

    @ParameterizedTest
    @ValueSource(strings = {"crc32c", "crc32c-none", "none-crc32c", "none"})
    void qemuIoReadsBackItsWritesWithEachHeaderDigestSetting(String digest) throws Exception {
        Programs.require("qemu-io", "qemu-utils, qemu-block-extra");
        Shards shards = launch();
        String[] parts = shards.unit(1).split("/");
        String options = "driver=iscsi,transport=tcp,portal=%s,target=%s,lun=%s,header-digest=%s"
            .formatted(parts[2], parts[3], parts[4], digest);
        String output = sandbox
            .run("qemu-io", "--image-opts", "-c", "write -P 0x11 0 8M", "-c", "write -P 0x22 252k 8k",
                "-c", "flush", "-c", "read -P 0x11 0 252k", "-c", "read -P 0x22 252k 8k", "-c", "read -P 0 8M 1M",
                options)
            .succeeded();
        assertThat(output).doesNotContain("Pattern verification failed", "failed:");
    }

    @Test
    void gradientWrittenToTheTrainUnitUpdatesTheWeightsOfTheRawUnit() throws Exception {
        Programs.require("qemu-io", "qemu-utils, qemu-block-extra");
        Shards shards = launch();
        Path gradient = floats("gradient", 1.0f);
        qemuIo(shards.unit(1), "write -s " + floats("weights", 3.0f) + " 0 512k");
        qemuIo(shards.unit(0), "write -s " + gradient + " 256k 4k", "flush");
        qemuIo(shards.unit(0), "write -s " + gradient + " 256k 4k", "flush");
        // Only the weights of the pushed logical block have changed. Each of the two pushes subtracted 0.5.
        Path copy = sandbox.path("copy");
        sandbox.run("qemu-img", "convert", "-O", "raw", shards.unit(1), copy).succeeded();
        ByteBuffer weights = ByteBuffer.wrap(Files.readAllBytes(copy)).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < 512 << 10; at += 4) {
            boolean pushed = at >= 256 << 10 && at < (256 << 10) + 4096;
            assertThat(weights.getFloat(at)).as("weight at byte %s", at).isEqualTo(pushed ? 2.0f : 3.0f);
        }
    }

    /**
     * A pull of float16 values returns the result of a push of bfloat16 values, because the shard stores float32 weights for all
     * units.
     */
    @Test
    void gradientWrittenToA16BitUnitUpdatesTheWeightsOfAllUnits() throws Exception {
        Programs.require("qemu-io", "qemu-utils, qemu-block-extra");
        Shards shards = launch();
        Path ones = Files.write(sandbox.path("ones"), shorts((short) 0x3F80));
        qemuIo(shards.unit(1), "write -s " + floats("weights", 3.0f) + " 0 512k");
        qemuIo(shards.unit(3), "write -s " + ones + " 128k 4k", "flush");
        // sgd:lr=0.5 has subtracted 0.5 from 2048 weights. 2.5 is 4100h in float16, and 3.0 is 4200h; 2.5 is 4020h in bfloat16.
        Path copy = sandbox.path("copy");
        sandbox.run("qemu-img", "convert", "-O", "raw", shards.unit(4), copy).succeeded();
        byte[] weights = Files.readAllBytes(copy);
        assertThat(Arrays.copyOfRange(weights, 124 << 10, 128 << 10)).isEqualTo(shorts((short) 0x4200));
        assertThat(Arrays.copyOfRange(weights, 128 << 10, 132 << 10)).isEqualTo(shorts((short) 0x4100));
        assertThat(Arrays.copyOfRange(weights, 132 << 10, 136 << 10)).isEqualTo(shorts((short) 0x4200));
        qemuIo(shards.unit(3), "read -P 0x40 131073 1", "read -P 0x20 128k 1", "read -P 0x40 132k 1");
    }

    /** Returns 4 KiB that consist of copies of one 16-bit number. */
    private static byte[] shorts(short number) {
        ByteBuffer bytes = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            bytes.putShort(number);
        }
        return bytes.array();
    }

    /**
     * Writes a file of 4 KiB that consists of copies of one float32. qemu-io repeats the contents of this file as often as
     * necessary.
     */
    private Path floats(String name, float number) throws Exception {
        ByteBuffer bytes = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            bytes.putFloat(number);
        }
        return Files.write(sandbox.path(name), bytes.array());
    }

    /**
     * Runs all test suites of libiscsi. libiscsi counts skipped tests as passed, but docs/measurements.md counts them separately.
     */
    @Test
    void rawUnitPassesTheLibiscsiTestsWithTheCountsInTheDocs() throws Exception {
        Programs.require("iscsi-test-cu", "libiscsi-bin");
        Path root = Path.of(System.getProperty("project.root"));
        Running tests = sandbox.start("tests", "iscsi-test-cu", "-d", "-v", "-V", "-t", "ALL", launch().unit(1));
        await("all tests have run", Duration.ofSeconds(110), () -> !tests.process().isAlive());
        assertThat(tests.awaitEnd()).as(tests.output()).isZero();
        String counts = sandbox.run(root.resolve(".ci/count-iscsi-tests"), tests.log()).succeeded();
        assertThat(counts).contains("tests: ", " 0 failed");
        assertThat(Files.readString(root.resolve("docs/measurements.md"))).contains(counts.indent(0));
    }

    /**
     * LUN 0 accepts gradients and therefore does not support every disk command. The libiscsi tests skip unsupported commands.
     */
    @Test
    void trainUnitRefusesVerifyAndWriteSameCommands() throws Exception {
        Programs.require("iscsi-test-cu", "libiscsi-bin");
        String unit = launch().unit(0);
        for (String suite : List.of("Verify10", "Verify16", "WriteSame10", "WriteSame16", "WriteVerify16")) {
            String output = sandbox.run("iscsi-test-cu", "-d", "-v", "-V", "-t", "ALL." + suite + ".Simple", unit)
                .succeeded();
            assertThat(output).contains("[SKIPPED] " + suite.toUpperCase(Locale.ROOT) + " is not implemented.");
        }
    }
}
