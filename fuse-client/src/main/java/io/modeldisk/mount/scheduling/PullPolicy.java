package io.modeldisk.mount.scheduling;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** When the weights of the next iteration are pulled, by name. */
public enum PullPolicy {
    /** So that the pull ends just when the computation does: after a bubble, or beside the push if there is no time for one. */
    ADAPTIVE,
    /** As soon as the push has ended, always. */
    AFTER_PUSH,
    /** While the push goes on, always: full duplex. */
    BESIDE_PUSH;

    /**
     * The policy with this name, as {@code after-push}.
     *
     * @throws IllegalArgumentException with the names there are
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

    /** The name that users write. */
    public String policyName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
