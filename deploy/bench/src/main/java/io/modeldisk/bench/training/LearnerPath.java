package io.modeldisk.bench.training;

import io.modeldisk.mount.trace.IterationTrace;
import java.io.IOException;

/** The access of an emulated learner to the model. For use by one thread. */
interface LearnerPath extends AutoCloseable {
    /** Reads the weights for the computation. */
    void readWeights() throws IOException;

    /** Writes the gradient. */
    void writeGradient() throws IOException;

    /** Completes the iteration. */
    void synchronize() throws IOException;

    /** The trace of the phases so far. */
    IterationTrace trace();

    @Override
    void close() throws IOException;
}
