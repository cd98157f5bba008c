package io.modeldisk.mount.exchange;

import io.modeldisk.mount.exchange.ExchangeProgress.Step;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** A worker thread of a {@link BackgroundExchange}. Executes steps without holding the lock of the exchange. */
final class ExchangeWorker implements Runnable {
    private static final Logger LOG = LogManager.getLogger(ExchangeWorker.class);

    private final BackgroundExchange exchange;
    private final RemoteModel model;
    private final Pacing pacing;
    private final Cancellation pushCancellation;
    private final Cancellation pullCancellation;
    private final Step step = new Step();

    ExchangeWorker(BackgroundExchange exchange, RemoteModel model, Pacing pacing, Cancellation pushCancellation,
        Cancellation pullCancellation) {
        this.exchange = exchange;
        this.model = model;
        this.pacing = pacing;
        this.pushCancellation = pushCancellation;
        this.pullCancellation = pullCancellation;
    }

    @Override
    public void run() {
        try {
            for (ExchangeJob job = exchange.awaitStep(step); job != null; job = exchange.awaitStep(step)) {
                long pushedBytes = 0;
                IOException failure = null;
                try {
                    pushedBytes = perform(job);
                } catch (IOException e) {
                    failure = e;
                } catch (RuntimeException | Error e) {
                    LOG.error("a step of an exchange failed because of an error in modeldisk: {}", e.toString(), e);
                    failure = new IOException("the exchange failed because of an error in modeldisk: " + e, e);
                }
                if (exchange.stepEnded(step, pushedBytes, failure)) {
                    model.countNonFinite();
                }
            }
        } catch (InterruptedException | RuntimeException | Error e) {
            LOG.error("thread {} stops because of an error in modeldisk", Thread.currentThread().getName(), e);
        }
    }

    /** Executes the step. Returns the number of bytes that the step has pushed. */
    private long perform(ExchangeJob job) throws IOException {
        BufferSet set = job.set();
        switch (step.kind) {
            case CHECK ->
                step.finite = set.outgoing().isFinite(model, step.from, Math.min(step.end, model.trainBytes()));
            case PUSH -> {
                return set.outgoing().push(model, step.from, step.end, pushCancellation);
            }
            case SYNCHRONIZE -> set.outgoing().synchronize(model, pushCancellation);
            case BEGIN_PULL -> set.pullBegins(step.startedNs, pacing.versionBeforePull(step.pushed));
            case PULL -> model.pull(step.from, set.weights(), step.from, step.end - step.from, pullCancellation);
            case COPY -> job.copy().copyWeights(set);
            case OBSERVE -> pacing.weightsInUse(job.versionInUse());
        }
        return 0;
    }
}
