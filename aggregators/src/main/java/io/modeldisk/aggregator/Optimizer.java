package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.Function;

/**
 * An aggregator with a learning rate, clipping and weight decay. It uses the formulas of PyTorch's optimizers, so the weights
 * equal PyTorch's weights except for rounding.
 *
 * <p>The state of a block has one array, in the layout of the weights, for each value that the optimizer keeps for a weight.
 */
final class Optimizer implements Aggregator {
    private final LearningRate learningRate;
    private final GradientRules rules;
    private final Formula formula;

    /**
     * Reads the options that all optimizers have, and then the options of the formula.
     *
     * @param formula reads the options of the formula, and returns the formula with the given rules
     * @throws IllegalArgumentException if an option is missing or out of range
     */
    Optimizer(AggregatorOptions options, float defaultDecay, Function<GradientRules, Formula> formula) {
        float rate = options.floatOption("lr");
        if (rate <= 0) {
            throw new IllegalArgumentException("lr=" + rate + " must be above 0");
        }
        this.learningRate = new LearningRate(rate, Schedule.of(options));
        this.rules = GradientRules.of(options, defaultDecay);
        this.formula = formula.apply(rules);
    }

    /** Reads an option from 0 to below 1. The value is in float64, because 1 minus the value must be precise. */
    static double fraction(AggregatorOptions options, String key, double defaultValue) {
        double value = options.doubleOption(key, defaultValue);
        if (value < 0 || value >= 1) {
            throw new IllegalArgumentException(key + "=" + value + " must be at least 0 and less than 1");
        }
        return value;
    }

    /** Reads the option {@code eps}, which prevents a division by 0. */
    static float epsilon(AggregatorOptions options, float defaultValue) {
        float value = options.floatOption("eps", defaultValue);
        // With 0, a weight whose gradient is 0 would become 0 / 0.
        if (value <= 0) {
            throw new IllegalArgumentException("eps=" + value + " must be above 0");
        }
        return value;
    }

    @Override
    public LearningRate learningRate() {
        return learningRate;
    }

    /** With a limit for the norm, a gradient must be whole, because a part of a gradient has another norm. */
    @Override
    public boolean needsWholeRounds() {
        return rules.clipNorm() != Float.POSITIVE_INFINITY;
    }

    @Override
    public Formula formula() {
        return formula;
    }

    @Override
    public int stateBytesPerLogicalBlock() {
        return switch (formula) {
            case Formula.Momentum _,Formula.ScaledBySquares _ -> LOGICAL_BLOCK_BYTES;
            case Formula.Adam _ -> 2 * LOGICAL_BLOCK_BYTES + Long.BYTES;
            default -> 0;
        };
    }

    @Override
    public void aggregate(
        BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes, float scale) {
        Objects.checkFromIndexSize(offset, lengthBytes, block.weights().byteSize());
        Objects.checkFromIndexSize(gradientOffset, lengthBytes, gradient.byteSize());
        if ((offset | lengthBytes) % LOGICAL_BLOCK_BYTES != 0) {
            throw new IllegalArgumentException("offset=" + offset + " and lengthBytes=" + lengthBytes
                + " must be multiples of " + LOGICAL_BLOCK_BYTES);
        }
        update(
            FloatKernels.ofKnownClass(block.weights()),
            FloatKernels.ofKnownClass(block.state()),
            offset,
            FloatKernels.ofKnownClass(gradient),
            gradientOffset,
            lengthBytes,
            rules.factor(gradient, gradientOffset, lengthBytes, scale),
            learningRate.at(block.round()));
    }

    /** Updates a range of a block's weights. The caller has checked the bounds. {@code rate} is at least 0. */
    private void update(
        MemorySegment weights, MemorySegment state, long offset, MemorySegment gradient, long gradientOffset,
        long lengthBytes, float factor, float rate) {
        switch (formula) {
            case Formula.Sgd _ when rules.changeNothing() ->
                FloatKernels.scaledAdd(weights, offset, gradient, gradientOffset, lengthBytes, -rate * factor);
            case Formula.Sgd _ ->
                OptimizerKernels.sgd(weights, offset, gradient, gradientOffset, lengthBytes, factor, rules, rate);
            case Formula.Momentum momentum ->
                OptimizerKernels.momentum(weights, state, offset, gradient, gradientOffset, lengthBytes, factor, rules,
                    rate, momentum.momentum(), momentum.nesterov());
            case Formula.ScaledBySquares squares ->
                OptimizerKernels.scaledBySquares(weights, state, offset, gradient, gradientOffset, lengthBytes, factor,
                    rules, rate, squares.keep(), squares.add(), squares.epsilon());
            case Formula.Adam adam -> Adam.update(adam, weights, state, offset, gradient, gradientOffset, lengthBytes,
                factor, rate);
            case Formula.Nothing _,Formula.Assign _,Formula.Sum _ ->
                throw new IllegalStateException("the formula " + formula + " does not belong to an optimizer");
        }
    }
}
