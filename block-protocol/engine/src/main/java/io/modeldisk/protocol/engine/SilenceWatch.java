package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.datamover.Liveness;

/** Decides whether a silent peer must be pinged or disconnected. Called by the watchdog. */
final class SilenceWatch {
    /** The action for a silent peer. */
    enum Verdict {
        NOTHING,
        /** The peer has been silent for half of the limit and must be pinged. Returned only once in a period of silence. */
        PING,
        /** The peer has been silent for longer than the limit and must be disconnected. */
        DISCONNECT
    }

    private boolean pinged;

    /** Returns the action for a peer that has been silent for {@code silentNs}. {@code boundNs} is the limit. */
    Verdict look(long silentNs, long boundNs) {
        if (silentNs > boundNs) {
            return Verdict.DISCONNECT;
        }
        if (silentNs < boundNs / 2) {
            pinged = false;
            return Verdict.NOTHING;
        }
        Verdict verdict = pinged ? Verdict.NOTHING : Verdict.PING;
        pinged = true;
        return verdict;
    }

    /**
     * Returns the time for which the peer has been silent. While a PDU is being sent or received, the silence begins at the start
     * of this transfer, or at the arrival of the last PDU if that is later. While the receiver thread waits for the next PDU, the
     * silence begins at the start of the wait. While the receiver thread runs a command, the peer is not silent, and the result
     * is 0.
     *
     * @param listeningSinceNs the time at which the receiver thread began to wait for the next PDU
     */
    static long silentNs(long nowNs, Liveness liveness, long listeningSinceNs) {
        long receiving = liveness.receivingSinceNs();
        long sending = liveness.sendingSinceNs();
        long heard = liveness.lastReceivedNs();
        long since = sending != 0 ? sending : receiving != 0 ? receiving : listeningSinceNs;
        if (sending == 0 && receiving == 0 && heard - since > 0) {
            return 0;
        }
        return nowNs - (heard - since > 0 ? heard : since);
    }
}
