package io.modeldisk.mount;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.fuse.kernel.LinkBinding;
import io.modeldisk.mount.handover.Handover;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the handover of a mount while programs use its files. A second mount of this process plays the part of the next process.
 */
@Tag("mount")
@Timeout(120)
final class LeaveMountTest {
    /** The number of descriptors that the service manager keeps for a mount without buffers. */
    private static final int OWN = 8;

    private static final String PYTHON = """
        exec python3 -u -c "
        import ctypes, os, select, sys
        libc = ctypes.CDLL(None, use_errno=True)
        file = lambda name, flags: os.open(os.environ['DIR'] + '/' + name, flags)
        def fsync(f):
            return ctypes.get_errno() if libc.fsync(f) else 0
        %s"
        """;

    @AutoClose
    private final MountFixture fixture = new MountFixture(8 << 20);
    @AutoClose
    private final DescriptorStore store;

    LeaveMountTest() throws IOException {
        store = new DescriptorStore();
    }

    private void launch(String exchange, FuseBinding binding, Map<String, Integer> left) throws IOException {
        fixture.mount = ModelMount.launch(
            fixture.context(exchange).binding(binding).handover(Handover.of(store.manager(), left)));
    }

    private Process python(String program) throws IOException {
        return fixture.shell.start(PYTHON.formatted(program));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void waitingFsyncContinuesInTheNextProcessAndPushesItsGradientOnce(boolean resends) throws Exception {
        FuseBinding binding = resends ? FuseBinding.named("kernel") : LinkBinding.withoutResend();
        launch("sync", binding, Map.of());
        fixture.model.synchronizeWaits(true);
        Process learner = python("""
            f = file('model', os.O_RDWR)
            os.pwrite(f, b'\\1' * 10, 0)
            print(fsync(f))
            print(fsync(f), os.pread(f, 1, 9))
            """);
        await("an fsync waits", () -> fixture.model.waiting.get() > 0);
        fixture.mount.leave();
        launch("sync", binding, store.await(OWN + 2));
        fixture.model.synchronizeWaits(false);
        // Before Linux 6.9, the first fsync fails with EINTR.
        assertThat(Shell.end(learner)).isEqualTo(new Shell.Result(0, (resends ? "0" : "4") + "\n0 b'\\x01'\n"));
        assertThat(fixture.model.pushes).hasSize(1);
        assertThat(fixture.model.weight(9)).isEqualTo((byte) 1);
        assertThat(fixture.model.weight(10)).isZero();
    }

    @Test
    void gradientWrittenBeforeAHandoverIsPushedAfterTheHandover() throws Exception {
        launch("overlap", FuseBinding.named("kernel"), Map.of());
        Process learner = python("""
            f = file('model', os.O_RDWR)
            os.pwrite(f, b'\\1' * 5000, 4096)
            w = file('weights', os.O_RDONLY)
            s = file('status.json', os.O_RDONLY)
            print('written')
            sys.stdin.read(1)
            print(fsync(f), fsync(f), os.pread(w, 2, 9095), os.pread(s, 1, 0))
            """);
        assertThat(learner.getInputStream().readNBytes(8)).asString().isEqualTo("written\n");
        fixture.mount.leave();
        launch("overlap", FuseBinding.named("kernel"), store.await(OWN + 4));
        learner.getOutputStream().close();
        assertThat(Shell.end(learner)).isEqualTo(new Shell.Result(0, "0 0 b'\\x01\\x00' b'{'\n"));
        assertThat(fixture.model.pushes).containsExactly("4096+8192");
    }

    @Test
    void handoverWakesAProcessThatPollsTheVersion() throws Exception {
        launch("direct", FuseBinding.named("kernel"), Map.of());
        Process follower = python("""
            f = file('version', os.O_RDONLY)
            os.pread(f, 32, 0)
            p = select.poll()
            p.register(f, select.POLLIN)
            print('polls')
            print(len(p.poll(60000)))
            """);
        assertThat(follower.getInputStream().readNBytes(6)).asString().isEqualTo("polls\n");
        await("the process waits", () -> fixture.model.versionCalls.get() > 1);
        fixture.mount.leave();
        launch("direct", FuseBinding.named("kernel"), store.await(OWN));
        assertThat(Shell.end(follower)).isEqualTo(new Shell.Result(0, "1\n"));
    }
}
