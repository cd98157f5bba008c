package io.modeldisk.mount.file;

import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.exchange.VersionProbe;
import io.modeldisk.mount.exchange.WeightsInUse;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.protocol.dialect.Partition;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** The extended attributes of a mount: values of the exchange and of the shards. Thread-safe. */
record ModelAttributes(RemoteModel model, Exchange exchange, VersionProbe probe, LearnerPartition partition) {
    /** Returns the names of the attributes that have a value. Sends no request to the shards. */
    List<String> names() {
        WeightsInUse weights = exchange.weightsInUse();
        boolean known = weights.isLatest() || weights.version() != VersionProbe.UNKNOWN;
        boolean learner = partition.hasLearner();
        return Stream.of(Attribute.values()).filter(attribute -> switch (attribute) {
            case VERSION, STALENESS -> known;
            case RANK, PARTITIONS, PARTITION_EPOCH -> learner;
            case LEARNING_RATE -> model.facts().hasLearningRate();
            case DROP -> false;
            case DTYPE, AGE, BUBBLE, STALL, ROLLBACKS -> true;
        }).map(Attribute::attributeName).toList();
    }

    /**
     * Returns the value of an attribute, or empty if the attribute has no value. The version, the staleness, the partition and
     * the learning rate can require a request to the shards.
     */
    Optional<String> value(String name) {
        return Attribute.named(name).flatMap(this::value);
    }

    private Optional<String> value(Attribute attribute) {
        return switch (attribute) {
            case DTYPE -> Optional.of(model.dtype().toString());
            case VERSION -> version();
            case STALENESS -> staleness();
            case AGE -> Optional.of(number(exchange.weightsInUse().ageMs()));
            case BUBBLE -> Optional.of(number(exchange.counters().bubbles.last()));
            case STALL -> Optional.of(number(exchange.counters().stalls.last()));
            case ROLLBACKS -> Optional.of(Long.toString(exchange.counters().rollbacks.sum()));
            case RANK -> partition(Partition::rank);
            case PARTITIONS -> partition(Partition::of);
            case PARTITION_EPOCH -> partition(Partition::epoch);
            case LEARNING_RATE -> learningRate();
            case DROP -> Optional.empty();
        };
    }

    private Optional<String> learningRate() {
        if (!model.facts().hasLearningRate()) {
            return Optional.empty();
        }
        try {
            return Optional.of(Float.toString(model.learningRate(round())));
        } catch (IOException e) {
            exchange.counters().failed(e);
            return Optional.empty();
        }
    }

    /**
     * Returns a round for which no push has begun. With a learner, this is the next round of the learner. Without a learner, it
     * is two rounds after the newest round, so learners of other mounts have not begun it when a change arrives at the shards.
     */
    private long round() throws IOException {
        long own = exchange.round();
        return own > 0 ? Math.max(own, model.nextRound()) : model.counters().openedRound() + 2;
    }

    /**
     * Changes an attribute.
     *
     * @throws ErrnoException if the attribute cannot be changed or the value is invalid
     * @throws IOException if the shards refuse the change or do not respond
     */
    void set(String name, String value) throws IOException {
        if (name.equals(Attribute.DROP.attributeName())) {
            exchange.drop(Cancellation.NONE);
            return;
        }
        if (!name.equals(Attribute.LEARNING_RATE.attributeName())) {
            throw new ErrnoException(Errno.EOPNOTSUPP, "the attribute " + name + " cannot be changed; "
                + Attribute.LEARNING_RATE.attributeName() + " and " + Attribute.DROP.attributeName() + " can");
        }
        if (!model.facts().hasLearningRate()) {
            throw new ErrnoException(Errno.EOPNOTSUPP, "the aggregator " + model.facts().aggregator()
                + " has no learning rate");
        }
        model.changeLearningRate(round(), rate(value.strip()));
    }

    private static float rate(String text) throws ErrnoException {
        float rate;
        try {
            rate = Float.parseFloat(text);
        } catch (NumberFormatException e) {
            rate = Float.NaN;
        }
        if (!Float.isFinite(rate) || rate <= 0) {
            throw new ErrnoException(Errno.EINVAL, "the learning rate '" + text + "' must be a finite number above 0");
        }
        return rate;
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
        return PlainText.format("%.3f", value);
    }
}
