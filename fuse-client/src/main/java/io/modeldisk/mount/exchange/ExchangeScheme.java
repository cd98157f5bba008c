package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.striping.RemoteModel;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The exchange schemes by name. */
public enum ExchangeScheme {
    /** Reads and writes go to the shards at once. */
    DIRECT(DirectExchange::new),
    /** Local buffers; fsync pushes, pulls and returns. */
    SYNC(SyncExchange::new);

    private final Function<RemoteModel, Exchange> factory;

    ExchangeScheme(Function<RemoteModel, Exchange> factory) {
        this.factory = factory;
    }

    /**
     * The scheme with this name, as {@code sync}.
     *
     * @throws IllegalArgumentException with the names there are
     */
    public static ExchangeScheme named(String name) {
        for (ExchangeScheme scheme : values()) {
            if (scheme.schemeName().equals(name)) {
                return scheme;
            }
        }
        throw new IllegalArgumentException("exchange=" + name + " must be one of "
            + Arrays.stream(values()).map(ExchangeScheme::schemeName).collect(Collectors.joining(", ")));
    }

    /** The name that users write. */
    public String schemeName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** A new exchange with this model. */
    public Exchange create(RemoteModel model) {
        return factory.apply(model);
    }
}
