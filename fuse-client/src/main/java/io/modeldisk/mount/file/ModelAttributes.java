package io.modeldisk.mount.file;

import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.exchange.VersionProbe;
import io.modeldisk.mount.exchange.WeightsInUse;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.Partition;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** Reads the extended attributes of a mount from the exchange and the shards. Thread-safe. */
final class ModelAttributes {
    private final Exchange exchange;
    private final VersionProbe probe;
    private final LearnerPartition partition;

    ModelAttributes(Exchange exchange, VersionProbe probe, LearnerPartition partition) {
        this.exchange = exchange;
        this.probe = probe;
        this.partition = partition;
    }

    /** Returns the names of the attributes that have a value. Sends no request to the shards. */
    List<String> names() {
        WeightsInUse weights = exchange.weightsInUse();
        boolean known = weights.isLatest() || weights.version() != VersionProbe.UNKNOWN;
        boolean learner = partition.hasLearner();
        return Stream.of(Attribute.values()).filter(attribute -> switch (attribute) {
            case VERSION, STALENESS -> known;
            case RANK, PARTITIONS, PARTITION_EPOCH -> learner;
            case AGE, BUBBLE, STALL, ROLLBACKS -> true;
        }).map(Attribute::attributeName).toList();
    }

    /**
     * Returns the value of an attribute, or empty if the attribute has no value. Version, staleness and partition may need a
     * request to the shards.
     */
    Optional<String> value(String name) {
        return Attribute.named(name).flatMap(this::value);
    }

    private Optional<String> value(Attribute attribute) {
        return switch (attribute) {
            case VERSION -> version();
            case STALENESS -> staleness();
            case AGE -> Optional.of(number(exchange.weightsInUse().ageMs()));
            case BUBBLE -> Optional.of(number(exchange.counters().lastBubbleMs()));
            case STALL -> Optional.of(number(exchange.counters().lastStallMs()));
            case ROLLBACKS -> Optional.of(Long.toString(exchange.counters().rollbacks()));
            case RANK -> partition(Partition::rank);
            case PARTITIONS -> partition(Partition::of);
            case PARTITION_EPOCH -> partition(Partition::epoch);
        };
    }

    private Optional<String> version() {
        WeightsInUse weights = exchange.weightsInUse();
        long version = weights.isLatest() ? probe.ask().version() : weights.version();
        return version == VersionProbe.UNKNOWN ? Optional.empty() : Optional.of(Long.toString(version));
    }

    private Optional<String> staleness() {
        WeightsInUse weights = exchange.weightsInUse();
        double rounds = weights.isLatest() ? 0 : probe.ask().roundsSince(weights.version());
        return Double.isNaN(rounds) ? Optional.empty() : Optional.of(number(rounds));
    }

    private Optional<String> partition(Function<Partition, Number> member) {
        try {
            return partition.ask(Cancellation.NONE).filter(Partition::hasRank).map(member).map(Number::toString);
        } catch (IOException e) {
            // LearnerPartition has recorded the reason as the last error in status.json.
            return Optional.empty();
        }
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.3f", value);
    }
}
