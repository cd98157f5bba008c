package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.striping.RemoteModel;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/** The exchange schemes by name. */
public enum ExchangeScheme {
    /** Each read pulls and each write pushes. */
    DIRECT(0, DirectExchange::new),
    /** One set of local buffers; fsync pushes, pulls and returns. */
    SYNC(2, SyncExchange::new),
    /**
     * Two sets of local buffers; fsync switches them and returns, and one is exchanged while the learner computes on the other.
     */
    OVERLAP(4, OverlapExchange::new);

    private final int localCopies;
    private final BiFunction<RemoteModel, ExchangeSettings, Exchange> factory;

    ExchangeScheme(int localCopies, BiFunction<RemoteModel, ExchangeSettings, Exchange> factory) {
        this.localCopies = localCopies;
        this.factory = factory;
    }

    /**
     * The scheme with this name, such as {@code sync}.
     *
     * @throws IllegalArgumentException if no scheme has it; the message lists the names
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

    /** The name in options. */
    public String schemeName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The memory that the buffers take for a model of this size while it has a learner. */
    public long bufferBytes(long modelBytes) {
        return localCopies * LogicalBlocks.up(modelBytes);
    }

    /** A new exchange with this model. */
    public Exchange create(RemoteModel model, ExchangeSettings settings) {
        return factory.apply(model, settings);
    }

    /** A new exchange with this model, with the default settings. */
    public Exchange create(RemoteModel model) {
        return create(model, ExchangeSettings.defaults());
    }
}
