package io.modeldisk.mount.scheduling;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** When the overlap exchange pulls the weights of the next iteration. */
public enum PullPolicy {
    /** The pull ends together with the computation: it starts after a bubble, or beside the push if time is short. */
    ADAPTIVE,
    /** The pull starts when the push has ended. */
    AFTER_PUSH,
    /** The pull runs beside the push: full duplex. */
    BESIDE_PUSH;

    /**
     * The policy with this name, such as {@code after-push}.
     *
     * @throws IllegalArgumentException if no policy has it; the message lists the names
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

    /** The name in options. */
    public String policyName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
