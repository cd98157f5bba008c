package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.datamover.Liveness;

/** Decides what is to be done about a peer that is silent. For the watchdog. */
final class SilenceWatch {
    /** What is to be done. */
    enum Verdict {
        NOTHING,
        /** The peer has been silent for half of the bound. Said once for each silence. */
        PING,
        /** The peer has been silent for longer than the bound. */
        DISCONNECT
    }

    private boolean pinged;

    /** Looks at a silence against its bound. */
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
     * How long the peer could have been heard and was not. While its own command keeps the receiver busy it cannot be heard.
     *
     * @param listeningSinceNs when the receiver began to wait for the next PDU
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
