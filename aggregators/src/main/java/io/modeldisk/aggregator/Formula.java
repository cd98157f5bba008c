package io.modeldisk.aggregator;

/**
 * The formula that an aggregator computes for each weight, so another processor can compute the same. All arithmetic is
 * of float32. A product is not rounded before it is added to a number (fused multiply and add). The learning rate of a round
 * comes from {@link Aggregator#learningRate()}.
 *
 * <p>Formulas with {@link GradientRules} use the gradient that these rules return. The norm of a gradient is computed in float64,
 * in the order that {@code SumOfSquares} describes. The state of a weight begins at 0.
 */
public sealed interface Formula {
    /** Returns what is done to the gradient before it is used; null if it is used as it is. */
    default GradientRules rules() {
        return null;
    }

    /** The weights stay unchanged. */
    record Nothing() implements Formula {}

    /** {@code weights = scale * gradient}. */
    record Assign() implements Formula {}

    /** {@code weights += scale * gradient}. */
    record Sum() implements Formula {}

    /** {@code weights -= rate * gradient}. If the rules change nothing, {@code weights += (-rate * scale) * gradient}. */
    record Sgd(GradientRules rules) implements Formula {}

    /**
     * {@code velocity = momentum * velocity + gradient}, and then {@code weights -= rate * velocity}, or with Nesterov's momentum
     * {@code weights -= rate * (gradient + momentum * velocity)}. The state of a block is the velocities.
     */
    record Momentum(GradientRules rules, float momentum, boolean nesterov) implements Formula {}

    /**
     * {@code squares = keep * squares + add * gradient^2}, and then {@code weights -= rate * gradient / (sqrt(squares) +
     * epsilon)}. The state of a block is the squares.
     */
    record ScaledBySquares(GradientRules rules, float keep, float add, float epsilon) implements Formula {}

    /**
     * {@code mean = beta1 * mean + (1 - beta1) * gradient} and {@code squares = beta2 * squares + (1 - beta2) * gradient^2}, and
     * then {@code weights = shrink * weights - rate * mean / (root * sqrt(squares) + epsilon)}. The state of a block is the
     * means, then the squares, then the number of updates of each logical block, as a 64-bit integer.
     *
     * @param decoupled whether the weight decay is no part of the gradient (AdamW)
     */
    record Adam(GradientRules rules, boolean decoupled, double beta1, double beta2, float epsilon) implements Formula {
        /** Returns the weight decay that is part of the gradient. */
        public float decayOfGradient() {
            return decoupled ? 0 : rules.weightDecay();
        }

        /** Returns the factor of the weights: 1, or less for a weight decay that is no part of the gradient. */
        public float shrink(float learningRate) {
            return decoupled ? 1 - learningRate * rules.weightDecay() : 1;
        }

        /** Returns the rate of update number {@code updates}, from 1: it corrects the bias of the means. */
        public float rate(float learningRate, long updates) {
            return (float) (learningRate / (1 - Math.pow(beta1, updates)));
        }

        /** Returns the factor of the roots in update number {@code updates}, from 1: it corrects the bias of the squares. */
        public float root(long updates) {
            return (float) (1 / Math.sqrt(1 - Math.pow(beta2, updates)));
        }
    }
}
