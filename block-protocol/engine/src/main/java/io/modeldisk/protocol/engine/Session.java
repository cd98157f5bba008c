package io.modeldisk.protocol.engine;

/**
 * A session that has logged in.
 *
 * @param nexus the initiator and the target
 * @param user the CHAP name of the initiator, or null without CHAP
 * @param discovery whether it is a discovery session
 * @param tsih the target's session identifying handle
 * @param cid the connection identifier of its only connection
 * @param connection its only connection
 */
record Session(Nexus nexus, String user, boolean discovery, int tsih, int cid, TargetConnection connection) {
    /** The same session with its handle. */
    Session withTsih(int handle) {
        return new Session(nexus, user, discovery, handle, cid, connection);
    }
}
