package io.modeldisk.server.role;

import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.server.ParameterServer;
import java.util.function.LongSupplier;

/** Receives a call when a process opens or closes its server. One thread calls all methods. */
public interface ServerObserver {
    /** Called when this process begins to wait because another process serves the shard, in {@code epoch} (0 if unknown). */
    void waits(ModelFacts facts, LongSupplier epoch);

    /** Called after the process has started a server. */
    void opened(ParameterServer server);

    /**
     * Called before the process closes the server. After this call, no thread may use the shard of the server.
     *
     * @param reason the reason, as a clause such as "the shard stops"
     */
    void closes(String reason);
}
