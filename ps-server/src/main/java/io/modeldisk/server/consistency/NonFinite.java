package io.modeldisk.server.consistency;

import io.modeldisk.platform.text.EnumNames;

/** The policy for a push whose gradient has a NaN or an infinity. One such value would spread to the weights of all learners. */
public enum NonFinite {
    /** The push fails with an error that names the cause. Nothing is applied, and the push does not count for its round. */
    REFUSE,
    /** The push succeeds and counts for its round, but its gradient is left out. */
    SKIP,
    /** The push is applied. Gradients are not checked. */
    PASS;

    /**
     * Returns the policy with this name.
     *
     * @throws IllegalArgumentException if the name is unknown; the message lists the policies
     */
    public static NonFinite parse(String text) {
        return EnumNames.parse(NonFinite.class, "nonFinite", text);
    }

    @Override
    public String toString() {
        return EnumNames.of(this);
    }
}
