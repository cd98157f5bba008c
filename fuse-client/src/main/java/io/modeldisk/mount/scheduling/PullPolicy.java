package io.modeldisk.mount.scheduling;

import io.modeldisk.platform.text.EnumNames;

/** The policies that decide when the overlap exchange pulls the weights of the next iteration. */
public enum PullPolicy {
    /**
     * The pull is delayed so that it completes when the computation ends. If the computation is too short for this, the pull
     * starts during the push.
     */
    ADAPTIVE,
    /** The pull starts when the push has completed. */
    AFTER_PUSH,
    /** The pull runs at the same time as the push (full duplex). */
    BESIDE_PUSH;

    @Override
    public String toString() {
        return EnumNames.of(this);
    }
}
