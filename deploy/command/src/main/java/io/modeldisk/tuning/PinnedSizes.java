package io.modeldisk.tuning;

import io.modeldisk.protocol.initiator.TransferSizes;
import java.util.StringJoiner;

/**
 * Sizes that an option pins, over every datamover; null where none does.
 *
 * @param eagerBytes as {@link TransferSizes#eagerBytes()}
 * @param requestBytes as {@link TransferSizes#requestBytes()}
 * @param queueDepth as {@link TransferSizes#queueDepth()}
 */
public record PinnedSizes(Integer eagerBytes, Integer requestBytes, Integer queueDepth) {
    /** Nothing is pinned. */
    public static final PinnedSizes NONE = new PinnedSizes(null, null, null);

    static final String EAGER = "--eager";
    static final String REQUEST = "--request-size";
    static final String DEPTH = "--queue-depth";

    /** Checks what is pinned. */
    public PinnedSizes {
        over(TransferSizes.DEFAULTS, eagerBytes, requestBytes, queueDepth);
    }

    /** These sizes, but for what is pinned. */
    TransferSizes over(TransferSizes sizes) {
        return over(sizes, eagerBytes, requestBytes, queueDepth);
    }

    private static TransferSizes over(TransferSizes sizes, Integer eager, Integer request, Integer depth) {
        return new TransferSizes(
            eager == null ? sizes.eagerBytes() : eager,
            request == null ? sizes.requestBytes() : request,
            depth == null ? sizes.queueDepth() : depth);
    }

    /** What is pinned, as " but --eager=8192"; empty if nothing is. */
    String words() {
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
