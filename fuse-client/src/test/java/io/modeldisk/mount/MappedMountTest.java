package io.modeldisk.mount;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.fuse.kernel.LinkBinding;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests learners that map the buffers of a mount. */
@Tag("mount")
@Tag("every-binding")
@Timeout(120)
@ParameterizedClass
@MethodSource("ways")
final class MappedMountTest {
    private static final int SIZE = (8 << 20) + 20;

    /** A learner that stores n + 1 in each byte of its gradient in iteration n, and checks the weights that it maps. */
    private static final String LEARNER = """
        import json, mmap, os, sys
        folder, sets, iterations = os.environ['DIR'] + '/mapped/', int(sys.argv[1]), int(sys.argv[2])
        control = os.open(folder + 'control', os.O_RDWR)
        maps = {}
        for name in ('weights', 'gradient'):
            for n in range(sets):
                fd = os.open(f'{folder}{name}.{n}', os.O_RDWR)
                size = os.fstat(fd).st_size
                maps[name, n] = mmap.mmap(fd, size)
                os.close(fd)
        seen = []
        for n in range(iterations):
            state = json.loads(os.pread(control, 4096, 0))
            assert state['set'] == n % sets and state['iteration'] == n, state
            weights = maps['weights', n % sets]
            assert weights[0] == weights[size // 2] == weights[size - 1], (weights[0], weights[size - 1])
            seen.append(weights[0])
            maps['gradient', n % sets][:] = bytes([n + 1]) * size
            os.fsync(control)
        print(size, *seen)
        """;

    /**
     * How the mount shows the buffers: as files (FUSE passthrough) or as symbolic links. The binding {@code jnr} supports only
     * links.
     */
    @Parameter
    private String way;
    @AutoClose
    private MountFixture fixture;

    static List<String> ways() {
        return MountFixture.BINDING.equals(FuseBinding.DEFAULT) ? List.of("passthrough", "link") : List.of("jnr");
    }

    private void mount(String exchange) throws IOException {
        FuseBinding binding = way.equals("link") ? LinkBinding.create() : FuseBinding.named(MountFixture.BINDING);
        fixture = new MountFixture(SIZE, binding).launch(exchange);
    }

    private String learn(int sets, int iterations) throws Exception {
        return fixture.shell.succeed("python3 - " + sets + " " + iterations + " <<'P'\n" + LEARNER + "P").strip();
    }

    @ParameterizedTest
    @ValueSource(strings = {"sync", "overlap"})
    void learnerTrainsWithTheBuffersThatItMaps(String exchange) throws Exception {
        mount(exchange);
        boolean overlap = exchange.equals("overlap");
        // At the start of iteration n, counted from 0, the weights contain the gradients of iterations 0 to n - 1; with overlap,
        // only 0 to n - 2.
        assertThat(learn(overlap ? 2 : 1, 5)).isEqualTo(SIZE + (overlap ? " 0 0 1 3 6" : " 0 1 3 6 10"));
        assertThat(fixture.model.weight(SIZE - 1)).isEqualTo((byte) 15);
        assertThat(learn(overlap ? 2 : 1, 2)).as("the next learner begins with set 0")
            .isEqualTo(SIZE + " 15 " + (overlap ? 15 : 16));
        await("both learners have left", () -> Collections.frequency(fixture.model.calls, "leave") == 2);
    }

    @Test
    void subdirectoryListsTheBuffersOfBothSets() throws Exception {
        mount("overlap");
        String mapped = new ObjectMapper().readTree(Files.readString(fixture.dir.resolve("status.json")))
            .at("/mount/mapped").asText();
        assertThat(mapped).matches(way.equals("passthrough") ? "passthrough|link \\(.*\\)" : "link \\(.*\\)");
        String type = mapped.equals("passthrough") ? " regular file" : " symbolic link";
        assertThat(
            fixture.shell.succeed("cd \"$DIR/mapped\" && stat -c '%n %F' * | sed 's/regular empty/regular/'").lines())
            .containsExactly("control regular file", "gradient.0" + type, "gradient.1" + type, "weights.0" + type,
                "weights.1" + type);
        assertThat(fixture.shell.succeed("stat -L -c %s \"$DIR\"/mapped/weights.1").strip()).isEqualTo(SIZE + "");
        assertThat(fixture.shell.succeed("find \"$DIR\" -mindepth 1 | wc -l").strip()).isEqualTo("16");
    }

    @Test
    void readAndWriteOfABufferUseTheSameMemory() throws Exception {
        mount("sync");
        fixture.shell.succeed("python3 - <<'P'\n"
            + "import mmap, os\n"
            + "fd = os.open(os.environ['DIR'] + '/mapped/gradient.0', os.O_RDWR)\n"
            + "memory = mmap.mmap(fd, os.fstat(fd).st_size)\n"
            + "assert os.pwrite(fd, b'x' * 70000, 5000) == 70000\n"
            + "assert memory[4999:75001] == b'\\0' + b'x' * 70000 + b'\\0'\n"
            + "memory[100] = 7\n"
            + "assert os.pread(fd, 1, 100) == b'\\7'\n"
            + "P");
    }

    @Test
    void sizeOfABufferCannotBeChanged() throws Exception {
        mount("sync");
        for (String size : new String[]{"10", "1G"}) {
            assertThat(fixture.shell.run("truncate -s " + size + " \"$DIR/mapped/gradient.0\"").output())
                .contains("Operation not permitted");
        }
        fixture.shell
            .succeed("python3 -c 'import os; f = os.open(os.environ[\"DIR\"] + \"/mapped/gradient.0\", os.O_RDWR);"
                + " assert os.fstat(f).st_size == " + SIZE + "'");
    }

    @Test
    void learnerUsesEitherTheModelOrTheBuffers() throws Exception {
        mount("sync");
        fixture.shell.succeed("python3 - <<'P'\n"
            + "import errno, os\n"
            + "names = [os.environ['DIR'] + '/' + name for name in ('model', 'mapped/control')]\n"
            + "for first, second in (names, names[::-1]):\n"
            + "  f = os.open(first, os.O_RDWR)\n"
            + "  os.close(os.open(second, os.O_RDONLY))\n"
            + "  try: os.open(second, os.O_RDWR); raise SystemExit('opened ' + second)\n"
            + "  except OSError as e: assert e.errno == errno.EBUSY, e\n"
            + "  os.close(f)\n"
            + "P");
        assertThat(fixture.mount.counters().lastError())
            .isEqualTo("a learner has mapped/control open for writing; a learner uses either model or mapped/control");
    }

    @Test
    void fsyncAfterAFailedPushPushesOnlyTheRest() throws Exception {
        mount("sync");
        fixture.model.failPushAfter(1);
        fixture.shell.succeed("python3 - <<'P'\n"
            + "import mmap, os\n"
            + "folder = os.environ['DIR'] + '/mapped/'\n"
            + "control = os.open(folder + 'control', os.O_RDWR)\n"
            + "with open(folder + 'gradient.0', 'r+b') as f: gradient = mmap.mmap(f.fileno(), 0)\n"
            + "with open(folder + 'weights.0', 'r+b') as f: weights = mmap.mmap(f.fileno(), 0)\n"
            + "gradient[:] = b'\\1' * len(gradient)\n"
            + "try: os.fsync(control); raise SystemExit('fsync succeeded')\n"
            + "except OSError: pass\n"
            + "os.fsync(control)\n"
            + "assert weights[:] == b'\\1' * len(weights)\n"
            + "os.fsync(control)\n"
            + "assert weights[:] == b'\\2' * len(weights)\n"
            + "P");
    }

    @Test
    void openOfControlDelaysNoOtherOpenWhileItWaitsForWeights() throws Exception {
        mount("sync");
        fixture.model.pullsWait(true);
        Process learner = fixture.shell.start("exec 5<>\"$DIR/mapped/control\" && echo x");
        await("the open waits", () -> fixture.model.waiting.get() > 0);
        fixture.shell.succeed("timeout 20 bash -c 'exec 6< \"$DIR/model\"'");
        fixture.model.pullsWait(false);
        assertThat(Shell.end(learner).output()).isEqualTo("x\n");
    }

    @Test
    void learnerLeavesIfTheWeightsCannotBePulledAtTheOpenOfControl() throws Exception {
        mount("sync");
        fixture.model.pullBreaks = true;
        assertThat(fixture.shell.run("exec 5<>\"$DIR/mapped/control\"").output()).contains("Input/output error");
        await("the learner has left", () -> fixture.model.calls.contains("leave"));
        fixture.model.pullBreaks = false;
        learn(1, 1);
    }

    @Test
    void writeToControlFailsWithEinval() throws Exception {
        mount("sync");
        assertThat(fixture.shell.run("echo x > \"$DIR/mapped/control\"").output()).contains("Invalid argument");
        assertThat(fixture.shell.succeed("cat \"$DIR/mapped/control\"")).startsWith("{\"set\":0,\"iteration\":");
    }
}
