package io.modeldisk.bench.training;

import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.platform.units.DurationText;
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
     * Returns the known model with a name, or a model of a given size, such as {@code LSTM}, {@code GRU:10ms} or
     * {@code 1GiB:4s}. The case of letters is ignored. A time without a unit is in milliseconds.
     *
     * @throws IllegalArgumentException if the name is unknown, or the computation time is unknown and not given
     */
    public static KnownModel parse(String text) {
        String[] parts = text.split(":", 2);
        KnownModel model = ALL.stream().filter(known -> known.name.equalsIgnoreCase(parts[0])).findFirst()
            .orElseGet(() -> ofSize(parts[0]));
        if (parts.length == 2) {
            return new KnownModel(model.name, model.megabytes,
                OptionalDouble.of(DurationText.parse(parts[1], "ms").toNanos() / MEGA));
        }
        Arguments.require(model.computeMs.isPresent(),
            "--model " + text + " needs the computation time of an iteration; add it as in --model " + text + ":10ms");
        return model;
    }

    private static KnownModel ofSize(String size) {
        try {
            return new KnownModel("custom", ByteSize.parse(size).bytes() / MEGA, OptionalDouble.empty());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("--model " + size + " must be a size or one of "
                + ALL.stream().map(KnownModel::name).collect(Collectors.joining(", ")), e);
        }
    }

    /** The size in bytes, a multiple of 4. */
    public long bytes() {
        return Math.round(megabytes * MEGA / Float.BYTES) * Float.BYTES;
    }
}
