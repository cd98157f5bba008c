package io.modeldisk.mount.scheduling;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The policies that decide when the overlap exchange pulls the weights of the next iteration. */
public enum PullPolicy {
    /** The pull is delayed so that it completes when the computation ends. If time is short, the pull starts during the push. */
    ADAPTIVE,
    /** The pull starts when the push has completed. */
    AFTER_PUSH,
    /** The pull runs at the same time as the push (full duplex). */
    BESIDE_PUSH;

    /**
     * Returns the policy with this name, such as {@code after-push}.
     *
     * @throws IllegalArgumentException if no policy has this name; the message lists the valid names
     */
    public static PullPolicy named(String name) {
        for (PullPolicy policy : values()) {
            if (policy.policyName().equals(name)) {
                return policy;
            }
        }
        throw new IllegalArgumentException("pull=" + name + " must be one of "
            + Arrays.stream(values()).map(PullPolicy::policyName).collect(Collectors.joining(", ")));
    }

    /** Returns the name in command-line options, such as {@code after-push}. */
    public String policyName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
