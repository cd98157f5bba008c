package io.modeldisk.command.process;

import io.modeldisk.aggregator.device.DeviceException;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Ends the process of a shard that is of no use any more. */
public final class ProcessEnd {
    private static final Logger LOG = LogManager.getLogger(ProcessEnd.class);

    private ProcessEnd() {}

    /**
     * Ends the process as if it was killed, before a learner gets an error, so the learner waits for the next process, and a
     * backup takes over. A stop in order would need what the shard has lost: the weights on a device, or the records.
     */
    public static void after(Throwable failure) {
        try {
            // The log may hang, for example because nobody reads a pipe.
            ThreadName.END.builder().start(ProcessEnd::halt);
            boolean ofDevice = failure instanceof DeviceException;
            LOG.error("{}; this process ends, and --durability says what survives",
                ofDevice ? failure.getMessage() : "a thread of the shard has failed because of an error in modeldisk",
                ofDevice ? null : failure);
            LogManager.shutdown();
        } finally {
            Runtime.getRuntime().halt(1);
        }
    }

    private static void halt() {
        try {
            NanoClock.SYSTEM.sleep(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            LOG.debug("nobody interrupts this thread", e);
        } finally {
            Runtime.getRuntime().halt(1);
        }
    }
}
