package io.modeldisk.server.role;

import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.server.ParameterServer;
import java.util.function.LongSupplier;

/** Hears which server of a process is open. The methods are called by one thread. */
public interface ServerObserver {
    /**
     * Another process serves the shard, and this process waits.
     *
     * @param epoch returns the epoch of the other process; 0 if it is not known
     */
    void waits(ModelFacts facts, LongSupplier epoch);

    /** The process has started a server. */
    void opened(ParameterServer server);

    /**
     * The process closes the server after this call, so nobody may use the server's shard any more.
     *
     * @param reason the reason, as a clause such as "the shard stops"
     */
    void closes(String reason);
}
