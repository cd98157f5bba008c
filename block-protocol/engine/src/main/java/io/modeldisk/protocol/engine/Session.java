package io.modeldisk.protocol.engine;

/**
 * A session that has logged in.
 *
 * @param tsih the target session identifying handle, which the target assigns
 * @param cid the connection identifier of the session's only connection
 */
record Session(Nexus nexus, boolean discovery, int tsih, int cid, TargetConnection connection) {
    Session withTsih(int handle) {
        return new Session(nexus, discovery, handle, cid, connection);
    }

    /** Returns the CHAP name of the initiator, or null without CHAP. */
    String user() {
        return nexus.user();
    }
}
