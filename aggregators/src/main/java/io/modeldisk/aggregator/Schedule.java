package io.modeldisk.aggregator;

import java.util.List;
import java.util.Locale;

/**
 * The factor of a learning rate as a function of the round. Thread-safe.
 *
 * <p>During a warm-up of n rounds, the factor rises in equal steps to 1 in round n. The schedule starts in the first round after
 * the warm-up, which has position 0. The formulas equal those of PyTorch's StepLR and CosineAnnealingLR, except that a cosine
 * schedule stays at its final factor after its end.
 *
 * @param rounds the number of rounds between two steps, or the number of rounds of the whole cosine
 * @param factor the factor of each step, or the final factor of the cosine
 */
record Schedule(Kind kind, int warmUpRounds, int rounds, float factor) {
    static final String DESCRIPTION = "schedule=constant|step|cosine (default constant), warmup=ROUNDS, for step: every=ROUNDS"
        + " and factor (default 0.1), for cosine: rounds=ROUNDS and final, the last fraction of lr (default 0)";

    private static final String KEY = "schedule";

    private enum Kind {
        CONSTANT, STEP, COSINE
    }

    /**
     * Reads the options of a schedule.
     *
     * @throws IllegalArgumentException if an option is out of range or belongs to another schedule
     */
    static Schedule of(AggregatorOptions options) {
        String text = options.textOption(KEY, "constant", List.of("constant", "step", "cosine"));
        Kind kind = Kind.valueOf(text.toUpperCase(Locale.ROOT));
        int warmUp = options.intOption("warmup", 0);
        if (warmUp < 0) {
            throw new IllegalArgumentException("warmup=" + warmUp + " must be at least 0");
        }
        refuse(options, kind == Kind.STEP, "step", "every", "factor");
        refuse(options, kind == Kind.COSINE, "cosine", "rounds", "final");
        return switch (kind) {
            case CONSTANT -> new Schedule(kind, warmUp, 0, 1);
            case STEP -> new Schedule(kind, warmUp, rounds(options, "every"), factor(options, "factor", 0.1f));
            case COSINE -> new Schedule(kind, warmUp, rounds(options, "rounds"), factor(options, "final", 0));
        };
    }

    private static void refuse(AggregatorOptions options, boolean allowed, String schedule, String... keys) {
        for (String key : keys) {
            if (!allowed && options.has(key)) {
                throw new IllegalArgumentException(
                    "the option " + key + " is only allowed with " + KEY + "=" + schedule);
            }
        }
    }

    private static int rounds(AggregatorOptions options, String key) {
        if (!options.has(key)) {
            throw new IllegalArgumentException("the option " + key + " is missing; add " + key + "=ROUNDS");
        }
        int rounds = options.intOption(key, 0);
        if (rounds < 1) {
            throw new IllegalArgumentException(key + "=" + rounds + " must be at least 1");
        }
        return rounds;
    }

    private static float factor(AggregatorOptions options, String key, float defaultValue) {
        float factor = options.floatOption(key, defaultValue);
        if (factor < 0 || factor > 1) {
            throw new IllegalArgumentException(key + "=" + factor + " must be from 0 to 1");
        }
        return factor;
    }

    /** Returns the factor for a round, which is from 0 to 1. Rounds are counted from 1. */
    double factor(long round) {
        if (round <= warmUpRounds) {
            return (double) Math.max(1, round) / warmUpRounds;
        }
        long position = round - 1 - warmUpRounds;
        return switch (kind) {
            case CONSTANT -> 1;
            case STEP -> Math.pow(factor, position / rounds);
            case COSINE -> factor
                + (1 - factor) * (1 + Math.cos(Math.PI * Math.clamp(position, 0, rounds) / rounds)) / 2;
        };
    }
}
