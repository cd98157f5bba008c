package io.modeldisk.bench.training;

import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/**
 * The size and computation time of a well-known neural network. The values of the first six models are from Xue et al., "RPC
 * Considered Harmful" (2018), table 1. The numbers of parameters show that 1 MB in this table is 10<sup>6</sup> bytes.
 *
 * @param name the name of the model in the paper
 * @param megabytes the size of all parameters, in 10<sup>6</sup> bytes
 * @param computeMs the computation time of a mini-batch in the paper; empty if unknown
 */
public record KnownModel(String name, double megabytes, OptionalDouble computeMs) {
    private static final List<KnownModel> ALL = List.of(
        new KnownModel("AlexNet", 176.42, OptionalDouble.of(7.61)),
        new KnownModel("Inception-v3", 92.90, OptionalDouble.of(68.32)),
        new KnownModel("VGGNet-16", 512.32, OptionalDouble.of(30.92)),
        new KnownModel("LSTM", 35.93, OptionalDouble.of(33.33)),
        new KnownModel("GRU", 27.92, OptionalDouble.of(30.44)),
        new KnownModel("FCN-5", 204.47, OptionalDouble.of(4.88)),
        new KnownModel("ResNet-50", 102.21, OptionalDouble.empty()),
        new KnownModel("LeNet-5", 1.72, OptionalDouble.empty()));

    private static final double MEGA = 1e6;

    /**
     * Finds a model by its name. The case of letters is ignored.
     *
     * @throws IllegalArgumentException if no model has the name; the message lists all names
     */
    public static KnownModel named(String name) {
        return ALL.stream().filter(model -> model.name.equalsIgnoreCase(name)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("--model '" + name + "' must be one of " + names()
                + "; for another model, use --size and --compute-ms"));
    }

    /** The names of all models, separated by commas. */
    public static String names() {
        return ALL.stream().map(KnownModel::name).collect(Collectors.joining(", "));
    }

    /** The size in bytes, a multiple of 4. */
    public long bytes() {
        return Math.round(megabytes * MEGA / Float.BYTES) * Float.BYTES;
    }
}
