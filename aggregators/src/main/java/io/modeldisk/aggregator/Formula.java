package io.modeldisk.aggregator;

/**
 * The formula that an aggregator computes for each weight. With the formula, another processor, such as a GPU, computes the same
 * weights. All arithmetic is in float32. A product is not rounded before a number is added to it (fused multiply-add). The
 * learning rate of a round comes from {@link Aggregator#learningRate()}.
 *
 * <p>In a formula with {@link GradientRules}, {@code gradient} is the gradient after these rules. The norm of a gradient is
 * computed in float64, in the order that {@code SumOfSquares} describes. The state of a weight begins at 0.
 */
public sealed interface Formula {
    /** Returns the rules that change the gradient before it is used, or null if the gradient is used unchanged. */
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
     * {@code weights -= rate * (gradient + momentum * velocity)}. The state of a block consists of the velocities.
     */
    record Momentum(GradientRules rules, float momentum, boolean nesterov) implements Formula {}

    /**
     * {@code squares = keep * squares + add * gradient^2}, and then
     * {@code weights -= rate * gradient / (sqrt(squares) + epsilon)}. The state of a block consists of the squares.
     */
    record ScaledBySquares(GradientRules rules, float keep, float add, float epsilon) implements Formula {}

    /**
     * {@code mean = beta1 * mean + (1 - beta1) * gradient} and {@code squares = beta2 * squares + (1 - beta2) * gradient^2}, and
     * then {@code weights = shrink * weights - rate * mean / (root * sqrt(squares) + epsilon)}. The state of a block consists of
     * the means, then the squares, then the number of updates of each logical block, as a 64-bit integer.
     *
     * @param decoupled true if the weight decay shrinks the weights directly (AdamW), false if it is added to the gradient (Adam)
     */
    record Adam(GradientRules rules, boolean decoupled, double beta1, double beta2, float epsilon) implements Formula {
        /** Returns the weight decay that is added to the gradient: 0 for AdamW. */
        public float decayOfGradient() {
            return decoupled ? 0 : rules.weightDecay();
        }

        /** Returns the factor of the weights, which is less than 1 for AdamW with a weight decay, and 1 otherwise. */
        public float shrink(float learningRate) {
            return decoupled ? 1 - learningRate * rules.weightDecay() : 1;
        }

        /** Returns the rate of update number {@code updates}, counted from 1, with the correction for the bias of the means. */
        public float rate(float learningRate, long updates) {
            return (float) (learningRate / (1 - Math.pow(beta1, updates)));
        }

        /** Returns the factor of the roots in update number {@code updates}, from 1. It corrects the bias of the squares. */
        public float root(long updates) {
            return (float) (1 / Math.sqrt(1 - Math.pow(beta2, updates)));
        }
    }
}
