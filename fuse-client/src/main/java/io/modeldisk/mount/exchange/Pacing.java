package io.modeldisk.mount.exchange;

import io.modeldisk.mount.exchange.ExchangeProgress.Push;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.striping.RemoteModel;

/**
 * Decides when the pull of an exchange begins. If the learner waits for the exchange (sync), the pull begins when the shards have
 * aggregated the gradient. If the learner computes during the exchange (overlap), the {@link PullPolicy} decides when the pull
 * begins, and this class measures the staleness of the weights. Thread-safe.
 */
final class Pacing {
    /**
     * A delay without a limit, until {@link #pullDelayNs} is called again because the push makes progress or the learner waits.
     */
    static final long NEVER = Long.MAX_VALUE;

    private final boolean overlaps;
    private final PullPolicy policy;
    private final PullScheduler scheduler;
    private final VersionProbe probe;
    private final ExchangeCounters counters;
    private final boolean laterIsFresher;

    /** Creates the pacing of an exchange. {@code overlaps} is true if the learner computes during the exchange. */
    Pacing(boolean overlaps, RemoteModel model, ExchangeSettings settings, PullScheduler scheduler,
        ExchangeCounters counters) {
        this.overlaps = overlaps;
        this.policy = settings.pull();
        this.scheduler = scheduler;
        this.counters = counters;
        this.probe = new VersionProbe(model, settings.trace().clock());
        // In bsp, the weights stay the same until the next round, so a later pull does not return fresher weights.
        this.laterIsFresher = !model.facts().consistencyMode().appliesWholeRounds();
    }

    /**
     * Returns the time in nanoseconds until the pull should begin. If the time is 0 or negative, the pull begins now.
     *
     * @param push the state of the push
     * @param learnerWaits whether the learner waits in fsync until the exchange has ended
     */
    long pullDelayNs(Push push, boolean learnerWaits) {
        if (!overlaps) {
            return push == Push.ENDED ? 0 : NEVER;
        }
        boolean pushed = push == Push.SYNCHRONIZING || push == Push.ENDED;
        return switch (policy) {
            case BESIDE_PUSH -> 0;
            case AFTER_PUSH -> pushed ? 0 : NEVER;
            case ADAPTIVE -> learnerWaits || pushed && !laterIsFresher ? 0 : scheduler.delayNs();
        };
    }

    /** Returns whether a pull can begin before the push has ended. If so, the push is divided into smaller pieces. */
    boolean mayPullBesidePush() {
        return overlaps && switch (policy) {
            case BESIDE_PUSH -> true;
            case AFTER_PUSH -> false;
            case ADAPTIVE -> scheduler.forecast().isDuplex();
        };
    }

    /** Records that the learner has begun to use weights of this version. Can send a request to the shards. */
    void weightsInUse(long version) {
        if (!overlaps || version == VersionProbe.UNKNOWN) {
            return;
        }
        double rounds = probe.ask().roundsSince(version);
        if (!Double.isNaN(rounds)) {
            counters.staleness.add(rounds);
        }
    }

    /**
     * Returns a lower bound for the version of the weights that the next pull will return. Can send a request to the shards.
     *
     * @param pushed whether the shards have received the whole gradient
     */
    long versionBeforePull(boolean pushed) {
        if (!overlaps) {
            return VersionProbe.UNKNOWN;
        }
        // During a push, the last known version is returned, because a new request would delay the pull.
        return (pushed ? probe.recent() : probe.latest()).version();
    }
}
