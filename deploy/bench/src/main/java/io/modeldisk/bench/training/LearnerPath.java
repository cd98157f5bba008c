package io.modeldisk.bench.training;

import io.modeldisk.mount.trace.IterationTrace;
import java.io.IOException;

/** How an emulated learner gets at the model. For one thread. */
interface LearnerPath extends AutoCloseable {
    /** Gets the weights to compute on. */
    void readWeights() throws IOException;

    /** Gives the gradient. */
    void writeGradient() throws IOException;

    /** Ends the iteration. */
    void synchronize() throws IOException;

    /** What happened when. */
    IterationTrace trace();

    @Override
    void close() throws IOException;
}
