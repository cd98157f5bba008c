package io.modeldisk.mount;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that signals interrupt the requests of processes. Runs only with the binding {@code kernel}, because {@code jnr} does not
 * support interrupts.
 */
@Tag("mount")
@Timeout(120)
final class SignalMountTest {

    @AutoClose
    private final MountFixture fixture = new MountFixture(8 << 20);

    @Test
    void signalStopsAReadThatWaitsForTheShards() throws Exception {
        fixture.launch("direct");
        fixture.model.pullsWait(true);
        Process reader = fixture.shell.start("exec dd if=\"$DIR/model\" of=/dev/null bs=4096 count=1");
        await("a read waits", () -> fixture.model.waiting.get() > 0);
        reader.toHandle().destroy();
        assertThat(Shell.end(reader).status()).isEqualTo(128 + 15);
    }

    @Test
    void fsyncRepeatedAfterASignalPushesTheGradientOnce() throws Exception {
        fixture.launch("sync");
        fixture.model.synchronizeWaits(true);
        Process learner = fixture.shell.start("exec python3 -u -c \"" + Shell.OPEN.replace("\n", ";")
            + "exec('def h(*a): raise InterruptedError'); signal.signal(signal.SIGINT, h); os.pwrite(f, b'\\1'*10, 0)\n"
            + "try: os.fsync(f)\nexcept InterruptedError: print('interrupted')\n"
            + "sys.stdin.read(1); os.fsync(f)\"");
        await("an fsync waits", () -> fixture.model.waiting.get() > 0);
        fixture.shell.succeed("kill -INT " + learner.pid());
        assertThat(learner.getInputStream().read()).isEqualTo('i');
        fixture.model.synchronizeWaits(false);
        learner.getOutputStream().close();
        assertThat(Shell.end(learner).status()).isZero();
        assertThat(fixture.model.pushes).hasSize(1);
        assertThat(fixture.model.weight(0)).isEqualTo((byte) 1);
    }

    @Test
    void eachOfTwelveWaitingReadersEndsWhenItIsKilled() throws Exception {
        fixture.launch("direct");
        fixture.model.pullsWait(true);
        List<Process> readers = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            readers.add(fixture.shell.start("exec dd if=\"$DIR/model\" of=/dev/null bs=4096 count=1"));
        }
        await("twelve reads wait at the same time", () -> fixture.model.pulls.get() == 12);
        fixture.shell.succeed("cat \"$DIR/status.json\"");
        for (Process reader : readers) {
            reader.toHandle().destroyForcibly();
            assertThat(Shell.end(reader).status()).isEqualTo(128 + 9);
        }
        fixture.model.pullsWait(false);
        fixture.shell.succeed("cat \"$DIR/model\" >/dev/null");
    }
}
