package io.modeldisk.mount.exchange;

import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.protocol.striping.RemoteModel;

/** Starts pulls as the {@link PullPolicy} specifies. Measures the delay of pulls and the staleness of weights. Thread-safe. */
final class OverlapPacing implements Pacing {
    private final PullPolicy policy;
    private final PullScheduler scheduler;
    private final VersionProbe probe;
    private final ExchangeCounters counters;
    private final IterationTrace trace;
    private final boolean laterIsFresher;

    OverlapPacing(RemoteModel model, ExchangeSettings settings, PullScheduler scheduler, ExchangeCounters counters) {
        this.policy = settings.pull();
        this.scheduler = scheduler;
        this.counters = counters;
        this.trace = settings.trace();
        this.probe = new VersionProbe(model, trace.clock());
        // In bsp the weights stay the same until the next round, so a later pull does not bring fresher weights.
        this.laterIsFresher = !model.facts().consistencyMode().appliesWholeRounds();
    }

    @Override
    public long pullDelayNs(ExchangeProgress.Push push, boolean learnerWaits) {
        boolean pushed = push == ExchangeProgress.Push.SYNCHRONIZING || push == ExchangeProgress.Push.ENDED;
        return switch (policy) {
            case BESIDE_PUSH -> 0;
            case AFTER_PUSH -> pushed ? 0 : NEVER;
            case ADAPTIVE -> learnerWaits || pushed && !laterIsFresher ? 0 : scheduler.delayNs();
        };
    }

    @Override
    public boolean mayPullBesidePush() {
        return switch (policy) {
            case BESIDE_PUSH -> true;
            case AFTER_PUSH -> false;
            case ADAPTIVE -> scheduler.forecast().isDuplex();
        };
    }

    @Override
    public void weightsInUse(long version) {
        if (version == VersionProbe.UNKNOWN) {
            return;
        }
        double rounds = probe.ask().roundsSince(version);
        if (!Double.isNaN(rounds)) {
            counters.staleness(rounds);
        }
    }

    @Override
    public long versionBeforePull(boolean pushed) {
        // During a push, the last known version is returned, because a new request would delay the pull.
        return (pushed ? probe.recent() : probe.latest()).version();
    }

    @Override
    public void pullBegins(long iteration, long pushEndedNs, long nowNs) {
        counters.bubble(nowNs - pushEndedNs);
        trace.add(Phase.BUBBLE, iteration, pushEndedNs, nowNs);
    }

    @Override
    public void pushed(long durationNs) {
        scheduler.pushed(durationNs);
    }

    @Override
    public void pulled(long durationNs) {
        scheduler.pulled(durationNs);
    }
}
