package io.modeldisk.server;

/** Hears which server of a process is open. The methods are called by one thread. */
public interface ServerObserver {
    /** The process has started a server. */
    void opened(ParameterServer server);

    /**
     * The process closes the server after this call, so that nobody may use the server's shard any more.
     *
     * @param reason the reason, as a clause such as "the shard stops"
     */
    void closes(String reason);
}
