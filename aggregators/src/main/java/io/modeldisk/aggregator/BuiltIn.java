package io.modeldisk.aggregator;

import io.modeldisk.platform.text.PlainText;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Function;

/** The provider of a modeldisk aggregator. Each optimizer uses the formula of PyTorch's optimizer with the same name. */
record BuiltIn(String name, String description, Function<AggregatorOptions, Aggregator> constructor)
    implements
        AggregatorProvider {

    private static final float ADAMW_DECAY = 0.01f;

    static final List<AggregatorProvider> ALL = List.of(
        new BuiltIn("assign", "weights = gradient; a push overwrites all earlier pushes",
            options -> new Plain(new Formula.Assign(), false, FloatKernels::scaledCopy)),
        new BuiltIn("null", "discards the gradient; for measurements of the transport without aggregation",
            options -> new Plain(new Formula.Nothing(), false,
                (weights, at, gradient, from, lengthBytes, scale) -> {})),
        new BuiltIn("sum", "weights += gradient",
            options -> new Plain(new Formula.Sum(), true, FloatKernels::scaledAdd)),
        new BuiltIn("sgd", "weights -= lr * gradient; " + options("", 0),
            options -> new Optimizer(options, 0, Formula.Sgd::new)),
        new BuiltIn("momentum",
            "velocity = momentum * velocity + gradient; weights -= lr * velocity; " + momentumOptions(),
            options -> momentum(options, false)),
        new BuiltIn("nesterov",
            "velocity = momentum * velocity + gradient; weights -= lr * (gradient + momentum * velocity); "
                + momentumOptions(),
            options -> momentum(options, true)),
        // The formula is from Duchi et al. 2011.
        new BuiltIn("adagrad",
            "squares += gradient^2; weights -= lr * gradient / (sqrt(squares) + eps); "
                + options("eps (default 1e-10), ", 0),
            options -> scaledBySquares(options, 1, 1, 1e-10f)),
        // The formula is from Hinton 2012.
        new BuiltIn("rmsprop",
            "squares = alpha * squares + (1 - alpha) * gradient^2; weights -= lr * gradient / (sqrt(squares) + eps); "
                + options("alpha, from 0 to below 1 (default 0.99), eps (default 1e-8), ", 0),
            BuiltIn::rmsprop),
        // The formula is from Kingma and Ba 2015.
        new BuiltIn("adam",
            "weights -= lr * m / (sqrt(v) + eps), where m and v are moving averages of gradient and gradient^2, without their"
                + " initial bias; " + adamOptions(0),
            options -> adam(options, false, 0)),
        // The formula is from Loshchilov and Hutter 2019.
        new BuiltIn("adamw",
            "adam, but weights -= lr * weight-decay * weights replaces the decay in the gradient; "
                + adamOptions(ADAMW_DECAY),
            options -> adam(options, true, ADAMW_DECAY)));

    @Override
    public Aggregator create(AggregatorOptions options) {
        return constructor.apply(options);
    }

    private static Aggregator rmsprop(AggregatorOptions options) {
        double alpha = Optimizer.fraction(options, "alpha", 0.99);
        return scaledBySquares(options, (float) alpha, (float) (1 - alpha), 1e-8f);
    }

    private static Aggregator scaledBySquares(AggregatorOptions options, float keep, float add, float epsilon) {
        return new Optimizer(options, 0,
            rules -> new Formula.ScaledBySquares(rules, keep, add, Optimizer.epsilon(options, epsilon)));
    }

    private static Aggregator momentum(AggregatorOptions options, boolean nesterov) {
        return new Optimizer(options, 0, rules -> new Formula.Momentum(rules,
            (float) Optimizer.fraction(options, "momentum", 0.9), nesterov));
    }

    private static Aggregator adam(AggregatorOptions options, boolean decoupled, float defaultDecay) {
        return new Optimizer(options, defaultDecay,
            rules -> new Formula.Adam(rules, decoupled, Optimizer.fraction(options, "beta1", 0.9),
                Optimizer.fraction(options, "beta2", 0.999), Optimizer.epsilon(options, 1e-8f)));
    }

    private static String momentumOptions() {
        return options("momentum, from 0 to below 1 (default 0.9), ", 0);
    }

    private static String adamOptions(float defaultDecay) {
        return options("beta1 (default 0.9) and beta2 (default 0.999), from 0 to below 1, eps (default 1e-8), ",
            defaultDecay);
    }

    /** Returns the description of an optimizer's options: the learning rate, its {@code own} options, and the common options. */
    private static String options(String own, float defaultDecay) {
        return PlainText
            .format("options: lr, the learning rate, above 0 (required), %s" + GradientRules.DESCRIPTION + ", "
                + Schedule.DESCRIPTION, own, defaultDecay);
    }

    /** An aggregator without options and state. */
    private record Plain(Formula formula, boolean accumulates, Kernel kernel) implements Aggregator {
        @Override
        public void aggregate(
            BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes,
            float scale) {
            kernel.apply(block.weights(), offset, gradient, gradientOffset, lengthBytes, scale);
        }
    }

    private interface Kernel {
        void apply(
            MemorySegment weights, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes,
            float scale);
    }
}
