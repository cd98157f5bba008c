package io.modeldisk.protocol.engine;

/**
 * A session that has logged in.
 *
 * @param nexus the initiator and the target of the session
 * @param discovery whether the session is a discovery session
 * @param tsih the target session identifying handle, which the target assigns
 * @param cid the connection identifier of the session's only connection
 * @param connection the session's only connection
 */
record Session(Nexus nexus, boolean discovery, int tsih, int cid, TargetConnection connection) {
    /** Returns a copy of the session with another target session identifying handle. */
    Session withTsih(int handle) {
        return new Session(nexus, discovery, handle, cid, connection);
    }

    /** Returns the CHAP name of the initiator, or null without CHAP. */
    String user() {
        return nexus.user();
    }
}
