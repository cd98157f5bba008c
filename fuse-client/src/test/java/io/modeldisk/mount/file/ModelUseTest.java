package io.modeldisk.mount.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.MemoryModel;
import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.exchange.TestSettings;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.mount.fuse.OpenRequest;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.CallingProcess;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ModelUseTest {
    private static final long THIS = ProcessHandle.current().pid();
    /** The ID that the kernel reports for a thread in a PID namespace that the mount cannot see. */
    private static final long UNKNOWN = 0;

    private final MemoryModel model = new MemoryModel(4096);
    private final Exchange exchange = ExchangeScheme.DIRECT.create(model, TestSettings.defaults());
    private final AtomicLong kept = new AtomicLong(-1);
    private final ModelUse use = new ModelUse(model, exchange, NanoClock.SYSTEM, false,
        process -> kept.set(process.id()));
    private final Process learner = new ProcessBuilder("sleep", "100").start();

    ModelUseTest() throws IOException {}

    @AfterEach
    void close() {
        learner.destroy();
        exchange.close();
        model.close();
    }

    private ModelUse.Opened open(long process) throws IOException {
        return use.openForLearner("model", start -> {}, new OpenRequest(true, (int) process, 0, Cancellation.NONE));
    }

    private void assertRefused(long process) {
        assertThatThrownBy(() -> open(process)).isInstanceOfSatisfying(ErrnoException.class,
            e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY)).hasMessageContaining("a mount is one learner");
    }

    @Test
    void anotherProcessCanBecomeTheLearnerAfterTheLastHandleIsReleased() throws Exception {
        ModelUse.Opened first = open(learner.pid());
        ModelUse.Opened second = open(learner.pid());
        assertThat(kept).hasValue(learner.pid());
        first.release();
        assertRefused(THIS);
        second.release();
        open(THIS).release();
        assertThat(kept).hasValue(THIS);
        assertThat(model.calls).containsExactly("join", "leave", "join", "leave");
    }

    @Test
    void processThatTheMountCannotSeeIsAdmitted() throws Exception {
        ModelUse.Opened known = open(learner.pid());
        ModelUse.Opened hidden = open(UNKNOWN);
        assertRefused(THIS);
        known.release();
        hidden.release();
        open(UNKNOWN);
        assertThat(kept).hasValue(UNKNOWN);
        open(THIS);
    }

    @Test
    void learnerStaysTheLearnerAfterARestartOfTheMount() throws Exception {
        use.resumeLearner(CallingProcess.ofThread(learner.pid()));
        use.resume(true, "model");
        assertRefused(THIS);
        open(learner.pid());
    }

    @Test
    void laterProcessWithTheNumberOfTheLearnerIsRefusedAfterARestartOfTheMount() {
        use.resumeLearner(CallingProcess.of(THIS, CallingProcess.ofThread(THIS).start() - 1));
        use.resume(true, "model");
        assertRefused(THIS);
    }
}
