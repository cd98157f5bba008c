package io.modeldisk.server.kept;

import io.modeldisk.protocol.engine.Nexus;

/**
 * A nexus that reads the kept round, and the blocks that it has not pulled yet. The flag of a block is guarded by the lock of the
 * block, and the other fields by the monitor of this object.
 */
final class KeptReader {
    private static final int NONE = -1;

    private final Nexus nexus;
    private final int first;
    /** For each block of the range, true if the nexus still needs its weights. */
    private final boolean[] needs;
    private volatile boolean lost;
    private volatile long lastUsedNs;
    private long minVersion = Long.MAX_VALUE;
    private long maxVersion = -1;
    /** The block that the nexus has pulled only in part; {@link #NONE} if there is none. */
    private int begunBlock = NONE;
    private long begunVersion;

    KeptReader(Nexus nexus, int first, int blocks, long nowNs) {
        this.nexus = nexus;
        this.first = first;
        this.needs = new boolean[blocks];
        this.lastUsedNs = nowNs;
    }

    Nexus nexus() {
        return nexus;
    }

    int first() {
        return first;
    }

    int end() {
        return first + needs.length;
    }

    /** Returns whether the nexus still needs the weights of a block. */
    boolean needs(int block) {
        return block >= first && block < end() && needs[block - first];
    }

    void needs(int block, boolean value) {
        needs[block - first] = value;
    }

    /** Records that the nexus can no longer get the weights of its round. */
    void lose() {
        lost = true;
    }

    boolean isLost() {
        return lost;
    }

    void used(long nowNs) {
        lastUsedNs = nowNs;
    }

    long lastUsedNs() {
        return lastUsedNs;
    }

    /** Records that the nexus has pulled a piece of a block. If the pieces have different versions, the round is lost. */
    synchronized void pulled(int block, long version, boolean firstPiece, boolean lastPiece) {
        if (!firstPiece && (begunBlock != block || begunVersion != version)) {
            lose();
        }
        begunBlock = lastPiece ? NONE : block;
        begunVersion = version;
        minVersion = Math.min(minVersion, version);
        maxVersion = Math.max(maxVersion, version);
    }

    /** The lowest version that the nexus has pulled; 0 if it has pulled nothing. */
    synchronized long minVersion() {
        return maxVersion < 0 ? 0 : minVersion;
    }

    /** The highest version that the nexus has pulled; 0 if it has pulled nothing. */
    synchronized long maxVersion() {
        return Math.max(0, maxVersion);
    }
}
