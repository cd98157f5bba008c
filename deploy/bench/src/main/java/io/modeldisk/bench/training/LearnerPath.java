package io.modeldisk.bench.training;

import java.io.IOException;

/** The access of an emulated learner to the model. Not thread-safe. */
interface LearnerPath extends AutoCloseable {
    /** Reads the weights of the model. */
    void readWeights() throws IOException;

    /** Writes the gradient to the model. */
    void writeGradient() throws IOException;

    /** Completes the iteration. */
    void synchronize() throws IOException;

    @Override
    void close() throws IOException;
}
