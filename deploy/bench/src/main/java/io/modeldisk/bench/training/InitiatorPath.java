package io.modeldisk.bench.training;

import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.exchange.ExchangeSettings;
import io.modeldisk.mount.exchange.BufferedExchange;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;

/** The access of a learner directly through the initiator. The learner uses the buffers of the exchange without a copy. */
final class InitiatorPath {
    private InitiatorPath() {}

    static LearnerPath open(RemoteModel model, Variant variant) throws IOException {
        IterationTrace trace = ExchangeSettings.systemTrace();
        Exchange exchange = variant.exchange().create(model, new ExchangeSettings(variant.pull(), trace));
        model.join();
        if (exchange instanceof BufferedExchange local) {
            local.prepare(true, Cancellation.NONE);
            local.awaitWeights(Cancellation.NONE);
            return new Local(model, local, trace);
        }
        exchange.close();
        return new Direct(model, trace);
    }

    /** The access with an exchange scheme that has local buffers. */
    private record Local(RemoteModel model, BufferedExchange exchange, IterationTrace trace) implements LearnerPath {
        @Override
        public void readWeights() {
            // The learner computes in the buffers of the exchange, so there is nothing to copy.
        }

        @Override
        public void writeGradient() {
            exchange.written(0, model.facts().sizeBytes());
        }

        @Override
        public void synchronize() throws IOException {
            exchange.synchronize(Cancellation.NONE);
        }

        @Override
        public void close() throws IOException {
            exchange.abandon();
            exchange.close();
            model.leave();
        }
    }

    /** The access with the exchange scheme {@code direct}, for which the learner has its own buffers. */
    private static final class Direct implements LearnerPath {
        private final RemoteModel model;
        private final IterationTrace trace;
        private final long bytes;
        private final DataMemory weights;
        private final DataMemory gradient;
        private long iteration = 1;
        private long pulledNs;

        Direct(RemoteModel model, IterationTrace trace) throws IOException {
            this.model = model;
            this.trace = trace;
            this.bytes = LogicalBlock.up(model.facts().sizeBytes());
            this.weights = model.allocate(bytes);
            this.gradient = model.allocate(bytes);
        }

        @Override
        public IterationTrace trace() {
            return trace;
        }

        @Override
        public void readWeights() throws IOException {
            long startNs = trace.nowNs();
            model.pull(0, weights, 0, bytes, Cancellation.NONE);
            pulledNs = trace.nowNs();
            trace.add(Phase.PULL, iteration, startNs, pulledNs);
            trace.add(Phase.STALL, iteration, startNs, pulledNs);
        }

        @Override
        public void writeGradient() throws IOException {
            long startNs = trace.nowNs();
            trace.add(Phase.COMPUTE, iteration, pulledNs, startNs);
            model.push(0, gradient, 0, bytes, Cancellation.NONE);
            trace.add(Phase.PUSH, iteration, startNs, trace.nowNs());
            trace.add(Phase.STALL, iteration, startNs, trace.nowNs());
        }

        @Override
        public void synchronize() throws IOException {
            model.synchronize(Cancellation.NONE);
            iteration++;
        }

        @Override
        public void close() throws IOException {
            model.leave();
            weights.close();
            gradient.close();
        }
    }
}
