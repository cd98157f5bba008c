package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.Formula;
import io.modeldisk.aggregator.GradientRules;

/**
 * The kernel that computes a formula, and its constant parameters.
 *
 * @param file the name of the PTX file
 * @param entry the name of the entry function in this file
 * @param stateArrays the number of state arrays, each as long as the weights
 * @param constants the parameters of the entry function after the first one, which is the address of the descriptors
 */
record KernelCall(String file, String entry, int stateArrays, float... constants) {
    static final KernelCall SUM = new KernelCall("copy", "sum", 0);
    static final KernelCall ASSIGN = new KernelCall("copy", "assign", 0);
    static final KernelCall ACCUMULATE = new KernelCall("copy", "accumulate", 0);

    /**
     * Returns the kernel of a formula, or null for the formula that changes nothing.
     *
     * @throws IllegalArgumentException if the formula is not available on a GPU
     */
    static KernelCall of(Formula formula) {
        return switch (formula) {
            case null -> throw new IllegalArgumentException("this aggregator is not available on a GPU");
            case Formula.Nothing _ -> null;
            case Formula.Sum _ -> SUM;
            case Formula.Assign _ -> ASSIGN;
            case Formula.Sgd(GradientRules rules) when rules.changeNothing() -> SUM;
            case Formula.Sgd(GradientRules rules) ->
                new KernelCall("sgd", "sgd", 0, rules.clipValue(), rules.weightDecay());
            case Formula.Momentum(GradientRules rules, float momentum, boolean nesterov) ->
                new KernelCall("sgd", nesterov ? "nesterov" : "momentum", 1, rules.clipValue(),
                    rules.weightDecay(), momentum);
            case Formula.ScaledBySquares(GradientRules rules, float keep, float add, float epsilon) ->
                new KernelCall("squares", "scaled_by_squares", 1, rules.clipValue(), rules.weightDecay(), keep,
                    add, epsilon);
            case Formula.Adam adam ->
                new KernelCall("adam", "adam", 2, adam.rules().clipValue(), adam.decayOfGradient(),
                    (float) adam.beta1(), (float) adam.beta2(), (float) (1 - adam.beta1()), (float) (1 - adam.beta2()),
                    adam.epsilon());
        };
    }

    /** Returns the kernel that limits the norm of gradients before they are applied, or null if the formula has no such limit. */
    static KernelCall ofNorm(Formula formula) {
        GradientRules rules = formula.rules();
        return rules == null || rules.clipNorm() == Float.POSITIVE_INFINITY
            ? null
            : new KernelCall("norm", "clip_norm", 0, rules.clipNorm());
    }
}
