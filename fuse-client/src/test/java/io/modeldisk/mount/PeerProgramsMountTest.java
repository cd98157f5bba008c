package io.modeldisk.mount;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.platform.linux.Processes;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests programs that copy, compare and map files: cp, dd, rsync and numpy. */
@Tag("mount")
@Tag("every-binding")
@Timeout(120)
final class PeerProgramsMountTest {
    private static final int SIZE = (4 << 20) + 20;
    /** Compares the file {@code data} with the weights. */
    private static final String COMPARE = " && cmp \"$DIR/../data\" \"$DIR/weights\"";

    @AutoClose
    private MountFixture fixture;

    @BeforeEach
    void mount() throws IOException {
        fixture = new MountFixture(SIZE).launch("sync");
        fixture.model.fill(5);
        byte[] data = new byte[SIZE];
        new Random(1).nextBytes(data);
        Files.write(fixture.base.resolve("data"), data);
    }

    private String succeed(String command) throws Exception {
        return fixture.shell.succeed("cd \"$DIR/..\" && " + command);
    }

    private void makeDataWithHoles() throws Exception {
        succeed("rm data && truncate -s " + SIZE + " data && printf abc | dd of=data seek=3000001 bs=1 conv=notrunc");
    }

    @ParameterizedTest
    @ValueSource(strings = {"cp", "cp --sparse=always", "cp --sparse=never"})
    void copyOfAFileWithHolesSetsTheWeightsInTheHolesToZero(String copy) throws Exception {
        makeDataWithHoles();
        succeed(copy + " data m/weights" + COMPARE + " && cmp data m/model");
    }

    @Test
    void copyOfAFileWithoutHolesWritesEachWeightOnce() throws Exception {
        succeed("cp data m/weights" + COMPARE);
        assertThat(fixture.model.writtenBytes.get()).isEqualTo(LogicalBlock.up(SIZE));
    }

    @Test
    void ddThatSkipsZerosSetsTheSkippedWeightsToZero() throws Exception {
        makeDataWithHoles();
        succeed("dd if=data of=m/weights bs=1000 conv=sparse" + COMPARE);
    }

    @Test
    void openWithTruncationSetsAllWeightsToZeroAtTheClose() throws Exception {
        succeed(": >m/weights");
        assertThat(fixture.model.weight(0)).isZero();
        assertThat(fixture.model.weight(SIZE - 1)).isZero();
        assertThat(Files.size(fixture.dir.resolve("weights"))).isEqualTo(SIZE);
    }

    @Test
    void truncationOfAFileThatIsNotOpenSetsAllWeightsToZero() throws Exception {
        succeed("python3 -c 'import os; os.truncate(\"m/weights\", 0)'");
        assertThat(fixture.model.weight(0)).isZero();
        assertThat(fixture.model.weight(SIZE - 1)).isZero();
    }

    @Test
    void readAfterATruncationReturnsZerosAndTheBytesWrittenSince() throws Exception {
        succeed("python3 - <<'P'\n"
            + "import os\n"
            + "f = os.open('m/weights', os.O_RDWR | os.O_TRUNC)\n"
            + "os.pwrite(f, b'abc', 5000)\n"
            + "os.pwrite(f, b'x' * 8192, 100 * 4096)\n"
            + "assert os.pread(f, 8192, 0) == bytes(5000) + b'abc' + bytes(3189)\n"
            + "assert os.pread(f, 8194, 100 * 4096 - 1) == b'\\0' + b'x' * 8192 + b'\\0'\n"
            + "assert os.pread(f, " + SIZE + ", 4 << 20) == bytes(20)\n"
            + "P");
    }

    @ParameterizedTest
    @ValueSource(strings = {"bs=1M", "bs=4096 oflag=direct,nonblock iflag=fullblock", "bs=700001", "ibs=300 obs=999",
        "bs=64k oflag=dsync conv=fdatasync", "bs=1M conv=fsync"})
    void ddCopiesWeightsInBothDirections(String options) throws Exception {
        // The file is cut to whole blocks, because dd with direct I/O can only copy whole blocks.
        succeed("truncate -s 1M data && dd if=data of=m/weights " + options + " && cmp -n 1048576 data m/weights");
        succeed("dd if=m/weights of=copy " + options.replace("oflag", "conv=notrunc oflag")
            + " && cmp copy m/weights");
    }

    @Test
    void rsyncInPlaceCopiesWeightsInBothDirections() throws Exception {
        requireRsync();
        for (String options : new String[]{"", "-t", "--no-whole-file", "-S", "--preallocate", "-c"}) {
            fixture.model.fill(5);
            succeed("rsync --inplace " + options + " data m/weights" + COMPARE);
        }
        Files.setLastModifiedTime(fixture.base.resolve("data"), FileTime.from(Instant.now()));
        fixture.model.fill(5);
        succeed("rsync --inplace -t data m/weights" + COMPARE);
        succeed("rsync -a m/weights copy && cmp copy m/weights && rsync -a --inplace m/ all && cmp all/model copy");
    }

    @Test
    void secondCopyCopiesWeightsThatOthersHaveChanged() throws Exception {
        requireRsync();
        succeed("rsync -t m/weights copy && cp -p m/weights copy2");
        fixture.model.fill(6);
        // The wait is needed because rsync compares whole seconds, and the kernel caches times for a second.
        succeed("sleep 2; rsync -t m/weights copy && cmp copy m/weights && cp -u m/weights copy2 && cmp copy2 m/model");
    }

    @Test
    void failedTruncationSetsNoWeightsToZeroLater() throws Exception {
        Process holder = fixture.shell.start("exec 3<\"$DIR/weights\" && echo x && exec sleep 60");
        assertThat(holder.getInputStream().read()).isEqualTo('x');
        fixture.model.writesFail = true;
        assertThat(
            fixture.shell.run("python3 -c \"import os; os.close(os.open('$DIR/weights', os.O_RDWR | os.O_TRUNC))\"")
                .output())
            .contains("Input/output error");
        // The kernel sends the release of the file after the close.
        await("the close and the release have failed", () -> fixture.model.failedWrites.get() == 2);
        fixture.model.writesFail = false;
        succeed("sync m/weights && cat m/weights >/dev/null");
        holder.destroy();
        holder.waitFor();
        assertThat(fixture.model.weight(0)).isEqualTo((byte) 5);
    }

    @Test
    void rsyncThatReplacesTheFileFailsWithEpermAndKeepsTheWeights() throws Exception {
        requireRsync();
        for (String options : new String[]{"", "--temp-dir=/tmp"}) {
            Shell.Result result = fixture.shell.run("cd \"$DIR/..\" && rsync " + options + " data m/weights");
            assertThat(result.status()).isNotZero();
            // For users other than root, the kernel itself refuses the replacement.
            assertThat(result.output()).containsAnyOf("Operation not permitted", "Permission denied");
        }
        assertThat(fixture.model.weight(0)).isEqualTo((byte) 5);
        assertThat(fixture.shell.run("cd \"$DIR/..\" && rsync --inplace -p --chmod=777 data m/weights").output())
            .contains("failed to set permissions");
    }

    @Test
    void rsyncOfAFileWithAnotherSizeFails() throws Exception {
        requireRsync();
        Shell.Result longer = fixture.shell.run("cd \"$DIR/..\" && echo >>data && rsync --inplace data m/weights");
        assertThat(longer.status()).isNotZero();
        assertThat(longer.output()).contains("No space left on device");
        Shell.Result shorter = fixture.shell
            .run("cd \"$DIR/..\" && truncate -s 9 data && rsync --inplace data m/weights");
        assertThat(shorter.status()).isNotZero();
        assertThat(shorter.output()).contains("Operation not permitted");
        assertThat(fixture.model.weight(SIZE - 1)).isNotEqualTo((byte) 5);
    }

    private static void requireRsync() {
        assumeTrue(Processes.isInstalled("rsync"), "rsync is missing; install it with apt install rsync");
    }

    @Test
    void mountRespondsAfterProgramsWereKilledAtRandomMoments() throws Exception {
        succeed("""
            for i in $(seq 10); do
              for command in 'cp data m/weights' 'dd if=/dev/null of=m/weights' 'dd if=data of=m/model bs=999 conv=fsync' \
                  'dd if=m/weights of=out bs=777' 'cat m/model' 'dd if=data of=m/weights bs=99999'; do
                timeout --foreground -s KILL 0.$((RANDOM % 3))$((RANDOM % 9 + 1)) bash -c "exec $command" >/dev/null 2>&1 &
              done
              wait
            done
            cp data m/weights""" + COMPARE + " && cat m/model m/status.json >/dev/null");
    }

    @Test
    void numpyMapsTheFiles() throws Exception {
        boolean maps = MountFixture.mapsFiles();
        succeed("python3 '" + MountFixture.resource("numpy_maps.py") + "' m " + (maps ? "yes" : "no"));
        assertThat(fixture.model.pushes).isEmpty();
    }
}
