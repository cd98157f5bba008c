package io.modeldisk.mount.file;

import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.exchange.VersionProbe;
import io.modeldisk.mount.exchange.WeightsInUse;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Reads the extended attributes of the file {@code model} from the exchange and the shards. Thread-safe. */
final class ModelAttributes {
    private static final List<String> NAMES = Stream.of(Attribute.values()).map(Attribute::attributeName).toList();
    private static final List<String> NAMES_WITHOUT_VERSION = Stream
        .of(Attribute.AGE, Attribute.BUBBLE, Attribute.STALL)
        .map(Attribute::attributeName).toList();

    private final Exchange exchange;
    private final VersionProbe probe;

    ModelAttributes(Exchange exchange, VersionProbe probe) {
        this.exchange = exchange;
        this.probe = probe;
    }

    /** Returns the names of the attributes that have a value. The staleness has a value only if the version is known. */
    List<String> names() {
        WeightsInUse weights = exchange.weightsInUse();
        boolean known = weights.isLatest() || weights.version() != VersionProbe.UNKNOWN;
        return known ? NAMES : NAMES_WITHOUT_VERSION;
    }

    /**
     * Returns the value of an attribute, or empty if the attribute has no value. Version and staleness need a request to the
     * shards.
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

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.3f", value);
    }
}
