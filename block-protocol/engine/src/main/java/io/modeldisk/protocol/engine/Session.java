package io.modeldisk.protocol.engine;

/**
 * A session that has logged in.
 *
 * @param nexus who has logged in
 * @param user the name of CHAP that has authenticated, or null
 * @param discovery whether it is for discovery
 * @param tsih the target's session identifying handle
 * @param cid the number of its one connection
 * @param connection that connection
 */
record Session(Nexus nexus, String user, boolean discovery, int tsih, int cid, TargetConnection connection) {
    /** The same with the handle that it was given. */
    Session withTsih(int handle) {
        return new Session(nexus, user, discovery, handle, cid, connection);
    }
}
