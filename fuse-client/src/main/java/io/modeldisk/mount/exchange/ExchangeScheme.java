package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.striping.RemoteModel;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/** The exchange schemes by name. */
public enum ExchangeScheme {
    /** Reads and writes go to the shards at once. */
    DIRECT(0, (model, _) -> new DirectExchange(model)),
    /** Local buffers; fsync pushes, pulls and returns. */
    SYNC(2, SyncExchange::new),
    /** Two sets of local buffers; fsync switches them and returns, the other set is exchanged meanwhile. */
    OVERLAP(4, OverlapExchange::new);

    private final int localCopies;
    private final BiFunction<RemoteModel, ExchangeSettings, Exchange> factory;

    ExchangeScheme(int localCopies, BiFunction<RemoteModel, ExchangeSettings, Exchange> factory) {
        this.localCopies = localCopies;
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

    /** How much memory the buffers of a model of this size take once a learner is there. */
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
