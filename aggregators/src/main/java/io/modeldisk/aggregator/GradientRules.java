package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/**
 * The changes that an optimizer makes to a gradient before it uses the gradient. The gradient is first clipped, and then the
 * weight decay is added.
 *
 * @param clipValue the largest absolute value of an element; infinity for no limit
 * @param clipNorm the largest L2 norm of the gradient, computed over the updated part of a block; infinity for no limit
 * @param weightDecay the factor with which the weights are added to the gradient
 */
public record GradientRules(float clipValue, float clipNorm, float weightDecay) {
    static final String DESCRIPTION = "weight-decay (default %s), clip-value, the largest absolute value of an element of the"
        + " gradient, clip-norm, the largest L2 norm of the gradient of a block";

    /** The number that is added to a norm to prevent a division by 0. PyTorch's clip_grad_norm_ adds the same number. */
    private static final double NORM_EPSILON = 1e-6;

    /**
     * Reads the rules from the options of an optimizer.
     *
     * @throws IllegalArgumentException if an option is out of range, or if both kinds of clipping are given
     */
    static GradientRules of(AggregatorOptions options, float defaultDecay) {
        if (options.has("clip-value") && options.has("clip-norm")) {
            throw new IllegalArgumentException("clip-value and clip-norm exclude each other; give only one of them");
        }
        float decay = options.floatOption("weight-decay", defaultDecay);
        if (decay < 0) {
            throw new IllegalArgumentException("weight-decay=" + decay + " must be at least 0");
        }
        return new GradientRules(limit(options, "clip-value"), limit(options, "clip-norm"), decay);
    }

    private static float limit(AggregatorOptions options, String key) {
        if (!options.has(key)) {
            return Float.POSITIVE_INFINITY;
        }
        float limit = options.floatOption(key);
        if (limit <= 0) {
            throw new IllegalArgumentException(key + "=" + limit + " must be above 0");
        }
        return limit;
    }

    /** Returns true if the gradient is used unchanged. */
    public boolean changeNothing() {
        return clipValue == Float.POSITIVE_INFINITY && clipNorm == Float.POSITIVE_INFINITY && weightDecay == 0;
    }

    /** Returns the factor for the values of a gradient: {@code scale}, or less if the gradient's norm exceeds the limit. */
    float factor(MemorySegment gradient, long gradientOffset, long lengthBytes, float scale) {
        if (clipNorm == Float.POSITIVE_INFINITY) {
            return scale;
        }
        double norm = scale * Math.sqrt(SumOfSquares.of(gradient, gradientOffset, lengthBytes));
        // Math.min keeps a NaN.
        return (float) (scale * Math.min(1, clipNorm / (norm + NORM_EPSILON)));
    }
}
