package io.modeldisk.mount.exchange;

import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;

/**
 * The settings of an exchange.
 *
 * @param pull the policy that decides when the overlap exchange pulls; the other schemes ignore this value
 * @param onRollback whether an fsync fails after a shard has gone back to earlier weights
 * @param trace the trace that records the phases; its clock is the clock of the exchange
 * @param buffers provides the buffers
 */
public record ExchangeSettings(PullPolicy pull, OnRollback onRollback, IterationTrace trace, Buffers buffers) {
    /** Provides the buffers of an exchange. */
    @FunctionalInterface
    public interface Buffers {
        /**
         * Allocates a buffer as large as the model, for pushes and pulls.
         *
         * @param name the name of the buffer, which is the same in another process that continues the exchange
         */
        DataMemory allocate(String name, RemoteModel model) throws IOException;
    }

    /** Creates settings with buffers that are not kept for another process. */
    public ExchangeSettings(PullPolicy pull, OnRollback onRollback, IterationTrace trace) {
        this(pull, onRollback, trace, (name, model) -> model.allocate(model.trainBytes()));
    }
}
