package io.modeldisk.tuning;

import io.modeldisk.protocol.initiator.TransferSizes;
import java.util.StringJoiner;

/**
 * The sizes that options set for every datamover (pinned sizes). A size without an option is null.
 *
 * @param eagerBytes the value for {@link TransferSizes#eagerBytes()}, or null
 * @param requestBytes the value for {@link TransferSizes#requestBytes()}, or null
 * @param queueDepth the value for {@link TransferSizes#queueDepth()}, or null
 */
public record PinnedSizes(Integer eagerBytes, Integer requestBytes, Integer queueDepth) {
    /** No pinned sizes. */
    public static final PinnedSizes NONE = new PinnedSizes(null, null, null);

    static final String EAGER = "--eager";
    static final String REQUEST = "--request-size";
    static final String DEPTH = "--queue-depth";

    /** Checks that every size is within its range. */
    public PinnedSizes {
        over(TransferSizes.DEFAULTS, eagerBytes, requestBytes, queueDepth);
    }

    /** Returns a copy of {@code sizes} in which each pinned size replaces the size of the same kind. */
    TransferSizes over(TransferSizes sizes) {
        return over(sizes, eagerBytes, requestBytes, queueDepth);
    }

    private static TransferSizes over(TransferSizes sizes, Integer eager, Integer request, Integer depth) {
        return new TransferSizes(
            eager == null ? sizes.eagerBytes() : eager,
            request == null ? sizes.requestBytes() : request,
            depth == null ? sizes.queueDepth() : depth);
    }

    /** Returns the pinned sizes as text, such as " but --eager=8192"; empty if no size is pinned. */
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
