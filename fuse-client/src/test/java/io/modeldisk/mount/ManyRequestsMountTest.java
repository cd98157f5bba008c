package io.modeldisk.mount;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests mounts with more waiting requests than the mount serves at the same time. */
@Tag("mount")
@Timeout(120)
final class ManyRequestsMountTest {
    private static final int SERVED = 8;
    private static final int REQUESTS = 60;
    private static final String THREADS = """
        exec python3 -u - <<'P'
        import os, signal, sys, threading
        f=os.open(os.environ['DIR']+'/model', os.O_RDWR)
        def request(i): %s
        threads=[threading.Thread(target=request, args=(i,)) for i in range(%d)]
        for t in threads: t.start()
        print('x')
        for t in threads: t.join()
        P""";
    private static final String WRITE = "assert os.pwrite(f, bytes([1+i%7])*(4096*(1+i%3)), i*16384)==4096*(1+i%3)";
    private static final String READ = "assert os.pread(f, 4096, i*16384)==bytes(4096)";

    @AutoClose
    private final MountFixture fixture = new MountFixture(8 << 20);

    @BeforeEach
    void mount() throws IOException {
        MountContext context = fixture.context("direct");
        context.dataRequests = SERVED;
        fixture.mount = ModelMount.launch(context);
    }

    private Process startRequests(String request) throws Exception {
        fixture.model.pushesWait(true);
        fixture.model.pullsWait(true);
        Process learner = fixture.shell.start(THREADS.formatted(request, REQUESTS));
        assertThat(learner.getInputStream().read()).isEqualTo('x');
        await("the limit of served requests is reached", () -> fixture.model.waiting.get() == SERVED);
        return learner;
    }

    private void end(Process learner) throws Exception {
        fixture.model.pushesWait(false);
        fixture.model.pullsWait(false);
        Shell.Result result = Shell.end(learner);
        assertThat(result.status()).as(result.output()).isZero();
    }

    @Test
    void statusAndAttributesCanBeReadWhileManyWritesWait() throws Exception {
        Process learner = startRequests(WRITE);
        fixture.shell.succeed("timeout 20 cat \"$DIR/status.json\"");
        fixture.shell.succeed("timeout 20 stat \"$DIR/model\" && timeout 20 ls -l \"$DIR\" && timeout 20 df \"$DIR\"");
        end(learner);
        for (int i = 0; i < REQUESTS; i++) {
            assertThat(fixture.model.weight(i * 16384L + 4096L * (i % 3) + 4095)).as("write %d", i)
                .isEqualTo((byte) (1 + i % 7));
        }
        assertThat(fixture.model.pushes).hasSize(REQUESTS);
    }

    @Test
    void allWaitingReadsAreServedAfterTheShardsRespond() throws Exception {
        Process learner = startRequests(READ);
        fixture.shell.succeed("timeout 20 cat \"$DIR/status.json\"");
        end(learner);
        assertThat(fixture.model.pulls.get()).isEqualTo(REQUESTS);
    }

    @Test
    void killedProcessExitsWhileItsWritesWait() throws Exception {
        Process learner = startRequests(WRITE);
        learner.toHandle().destroyForcibly();
        assertThat(Shell.end(learner).status()).isEqualTo(128 + 9);
        assertThat(fixture.model.pushes).isEmpty();
        fixture.model.pushesWait(false);
        fixture.shell.succeed("timeout 20 dd if=/dev/zero of=\"$DIR/model\" bs=4096 count=1 conv=notrunc status=none");
    }

    @Test
    void closeUnmountsWhileManyReadsWait() throws Exception {
        Process learner = startRequests(READ);
        fixture.mount.close();
        assertThat(fixture.isMounted()).isFalse();
        assertThat(fixture.mount.unmounted()).isDone();
        assertThat(Shell.end(learner).output()).contains("Errno");
    }
}
