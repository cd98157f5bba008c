package io.modeldisk.command.process;

import io.modeldisk.aggregator.device.DeviceException;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Ends the process of a shard that can no longer serve. */
public final class ProcessEnd {
    private static final Logger LOG = LogManager.getLogger(ProcessEnd.class);

    private ProcessEnd() {}

    /**
     * Ends the process as if it was killed, before a learner receives an error. The learners then wait for the next process, and
     * a backup takes over. A normal stop is not possible, because it needs data that the shard has lost: the weights on a device,
     * or the records.
     */
    public static void after(Throwable failure) {
        try {
            // This thread ends the process if the log hangs, for example because nobody reads a pipe.
            ThreadName.END.builder().start(ProcessEnd::halt);
            boolean ofDevice = failure instanceof DeviceException;
            LOG.error("{}; this process ends; --durability determines which data survives",
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
            LOG.debug("the thread that ends this process was interrupted", e);
        } finally {
            Runtime.getRuntime().halt(1);
        }
    }
}
