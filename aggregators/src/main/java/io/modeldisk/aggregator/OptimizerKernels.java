package io.modeldisk.aggregator;

import static io.modeldisk.aggregator.FloatKernels.ORDER;
import static io.modeldisk.aggregator.FloatKernels.multiplyAdd;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The loops in which the optimizers update weights. All values are float32 in native byte order.
 *
 * <p>{@code w} is the weights of a block, {@code s} is the state of the block with the arrays {@code m} and {@code v}, and
 * {@code g} is the gradient. {@code g'} is the gradient after {@link GradientRules}. The range starts at byte {@code offset} of
 * the weights and at byte {@code from} of the gradient. {@code lengthBytes} is a multiple of 4096, and therefore of every vector
 * size. The caller checks the bounds, and passes segments from {@link FloatKernels#ofKnownClass}, with which the loops are
 * faster. No memory is allocated.
 */
final class OptimizerKernels {
    // Unlike the loops in FloatKernels, these loops are limited by divisions and roots more than by memory (measured).
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final int VECTOR_BYTES = SPECIES.vectorByteSize();

    private OptimizerKernels() {}

    /** Computes {@code w -= rate * g'}. */
    static void sgd(
        MemorySegment w, long offset, MemorySegment g, long from, long lengthBytes, float factor, GradientRules rules,
        float rate) {
        FloatVector factors = FloatVector.broadcast(SPECIES, factor);
        FloatVector rates = FloatVector.broadcast(SPECIES, -rate);
        boolean clips = rules.clipValue() != Float.POSITIVE_INFINITY;
        float limit = rules.clipValue();
        float decay = rules.weightDecay();
        for (long i = 0; i < lengthBytes; i += VECTOR_BYTES) {
            FloatVector weight = load(w, offset + i);
            FloatVector gradient = gradient(load(g, from + i), factors, clips, limit, weight, decay);
            store(multiplyAdd(gradient, rates, weight), w, offset + i);
        }
    }

    /**
     * Computes {@code v = momentum * v + g'}, and then {@code w -= rate * v}, or with Nesterov's momentum
     * {@code w -= rate * (g' + momentum * v)}.
     */
    static void momentum(
        MemorySegment w, MemorySegment s, long offset, MemorySegment g, long from, long lengthBytes, float factor,
        GradientRules rules, float rate, float momentum, boolean nesterov) {
        FloatVector factors = FloatVector.broadcast(SPECIES, factor);
        FloatVector rates = FloatVector.broadcast(SPECIES, -rate);
        FloatVector momenta = FloatVector.broadcast(SPECIES, momentum);
        boolean clips = rules.clipValue() != Float.POSITIVE_INFINITY;
        float limit = rules.clipValue();
        float decay = rules.weightDecay();
        for (long i = 0; i < lengthBytes; i += VECTOR_BYTES) {
            FloatVector weight = load(w, offset + i);
            FloatVector gradient = gradient(load(g, from + i), factors, clips, limit, weight, decay);
            FloatVector velocity = multiplyAdd(load(s, offset + i), momenta, gradient);
            store(velocity, s, offset + i);
            FloatVector direction = nesterov ? multiplyAdd(velocity, momenta, gradient) : velocity;
            store(multiplyAdd(direction, rates, weight), w, offset + i);
        }
    }

    /**
     * Computes {@code v = keep * v + add * g' * g'}, and then {@code w -= rate * g' / (sqrt(v) + epsilon)}. This is adagrad with
     * {@code keep = add = 1}, and rmsprop with {@code add = 1 - keep}.
     */
    static void scaledBySquares(
        MemorySegment w, MemorySegment s, long offset, MemorySegment g, long from, long lengthBytes, float factor,
        GradientRules rules, float rate, float keep, float add, float epsilon) {
        FloatVector factors = FloatVector.broadcast(SPECIES, factor);
        FloatVector rates = FloatVector.broadcast(SPECIES, -rate);
        FloatVector keeps = FloatVector.broadcast(SPECIES, keep);
        FloatVector adds = FloatVector.broadcast(SPECIES, add);
        FloatVector epsilons = FloatVector.broadcast(SPECIES, epsilon);
        boolean clips = rules.clipValue() != Float.POSITIVE_INFINITY;
        float limit = rules.clipValue();
        float decay = rules.weightDecay();
        for (long i = 0; i < lengthBytes; i += VECTOR_BYTES) {
            FloatVector weight = load(w, offset + i);
            FloatVector gradient = gradient(load(g, from + i), factors, clips, limit, weight, decay);
            FloatVector squares = multiplyAdd(load(s, offset + i), keeps, gradient.mul(adds).mul(gradient));
            store(squares, s, offset + i);
            FloatVector divisor = squares.lanewise(VectorOperators.SQRT).add(epsilons);
            store(multiplyAdd(gradient.div(divisor), rates, weight), w, offset + i);
        }
    }

    /**
     * Computes {@code m = beta1 * m + (1 - beta1) * g'} and {@code v = beta2 * v + (1 - beta2) * g' * g'}, and then
     * {@code w = shrink * w - rate * m / (root * sqrt(v) + epsilon)}.
     *
     * @param learningRate the learning rate of the round; {@code rate}, {@code root} and {@code shrink} follow from it
     * @param updates the number of this update, counted from 1
     */
    static void adam(
        Formula.Adam formula, MemorySegment w, MemorySegment s, long offset, MemorySegment g, long from,
        long lengthBytes, float factor, float learningRate, long updates) {
        // The array v follows the array m, which is as long as the weights.
        long squaresStart = w.byteSize();
        float clipValue = formula.rules().clipValue();
        float decay = formula.decayOfGradient();
        FloatVector factors = FloatVector.broadcast(SPECIES, factor);
        FloatVector rates = FloatVector.broadcast(SPECIES, -formula.rate(learningRate, updates));
        FloatVector roots = FloatVector.broadcast(SPECIES, formula.root(updates));
        FloatVector betas1 = FloatVector.broadcast(SPECIES, (float) formula.beta1());
        FloatVector betas2 = FloatVector.broadcast(SPECIES, (float) formula.beta2());
        FloatVector rests1 = FloatVector.broadcast(SPECIES, (float) (1 - formula.beta1()));
        FloatVector rests2 = FloatVector.broadcast(SPECIES, (float) (1 - formula.beta2()));
        FloatVector shrinks = FloatVector.broadcast(SPECIES, formula.shrink(learningRate));
        FloatVector epsilons = FloatVector.broadcast(SPECIES, formula.epsilon());
        boolean clips = clipValue != Float.POSITIVE_INFINITY;
        for (long i = 0; i < lengthBytes; i += VECTOR_BYTES) {
            FloatVector weight = load(w, offset + i);
            FloatVector gradient = gradient(load(g, from + i), factors, clips, clipValue, weight, decay);
            FloatVector mean = multiplyAdd(load(s, offset + i), betas1, gradient.mul(rests1));
            store(mean, s, offset + i);
            FloatVector squares = multiplyAdd(load(s, squaresStart + offset + i), betas2,
                gradient.mul(rests2).mul(gradient));
            store(squares, s, squaresStart + offset + i);
            FloatVector divisor = multiplyAdd(squares.lanewise(VectorOperators.SQRT), roots, epsilons);
            store(multiplyAdd(mean.div(divisor), rates, weight.mul(shrinks)), w, offset + i);
        }
    }

    /** Returns g': the gradient after scaling, clipping and weight decay. */
    private static FloatVector gradient(
        FloatVector values, FloatVector factors, boolean clips, float limit, FloatVector weight, float decay) {
        FloatVector scaled = values.mul(factors);
        FloatVector clipped = clips ? scaled.min(limit).max(-limit) : scaled;
        return multiplyAdd(weight, FloatVector.broadcast(SPECIES, decay), clipped);
    }

    private static FloatVector load(MemorySegment memory, long offset) {
        return FloatVector.fromMemorySegment(SPECIES, memory, offset, ORDER);
    }

    private static void store(FloatVector values, MemorySegment memory, long offset) {
        values.intoMemorySegment(memory, offset, ORDER);
    }
}
