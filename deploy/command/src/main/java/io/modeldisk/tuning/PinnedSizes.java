package io.modeldisk.tuning;

import io.modeldisk.protocol.initiator.TransferSizes;
import java.util.StringJoiner;

/**
 * Sizes that options pin, for every datamover; null where no option does.
 *
 * @param eagerBytes as {@link TransferSizes#eagerBytes()}
 * @param requestBytes as {@link TransferSizes#requestBytes()}
 * @param queueDepth as {@link TransferSizes#queueDepth()}
 */
public record PinnedSizes(Integer eagerBytes, Integer requestBytes, Integer queueDepth) {
    /** No size is pinned. */
    public static final PinnedSizes NONE = new PinnedSizes(null, null, null);

    static final String EAGER = "--eager";
    static final String REQUEST = "--request-size";
    static final String DEPTH = "--queue-depth";

    /** Checks the pinned sizes. */
    public PinnedSizes {
        over(TransferSizes.DEFAULTS, eagerBytes, requestBytes, queueDepth);
    }

    /** These sizes, with the pinned ones in their place. */
    TransferSizes over(TransferSizes sizes) {
        return over(sizes, eagerBytes, requestBytes, queueDepth);
    }

    private static TransferSizes over(TransferSizes sizes, Integer eager, Integer request, Integer depth) {
        return new TransferSizes(
            eager == null ? sizes.eagerBytes() : eager,
            request == null ? sizes.requestBytes() : request,
            depth == null ? sizes.queueDepth() : depth);
    }

    /** The pinned sizes, as " but --eager=8192"; empty without any. */
    String summary() {
        StringJoiner words = new StringJoiner(" ", " but ", "").setEmptyValue("");
        add(words, EAGER, eagerBytes);
        add(words, REQUEST, requestBytes);
        add(words, DEPTH, queueDepth);
        return words.toString();
    }

    private static void add(StringJoiner words, String option, Integer value) {
        if (value != null) {
            words.add(option + "=" + value);
        }
    }
}
