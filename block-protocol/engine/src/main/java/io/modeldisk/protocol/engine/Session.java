package io.modeldisk.protocol.engine;

/**
 * A session that has logged in.
 *
 * @param nexus the initiator and the target of the session
 * @param user the CHAP name of the initiator, or null without CHAP
 * @param discovery whether the session is a discovery session
 * @param tsih the target's session identifying handle
 * @param cid the connection identifier of the session's only connection
 * @param connection the session's only connection
 */
record Session(Nexus nexus, String user, boolean discovery, int tsih, int cid, TargetConnection connection) {
    /** Returns a copy of the session with another target session identifying handle. */
    Session withTsih(int handle) {
        return new Session(nexus, user, discovery, handle, cid, connection);
    }
}
