package io.modeldisk.bench.training;

import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.text.EnumNames;

/**
 * An exchange scheme with its pull policy.
 *
 * @param exchange the scheme
 * @param pull the pull policy, which only {@code overlap} uses
 */
public record Variant(ExchangeScheme exchange, PullPolicy pull) {
    /**
     * Parses an exchange scheme, such as {@code sync}, {@code overlap} or {@code overlap:after-push}.
     *
     * @throws IllegalArgumentException if the scheme is unknown; the message lists the schemes
     */
    public static Variant parse(String text) {
        int colon = text.indexOf(':');
        ExchangeScheme exchange = EnumNames.parse(ExchangeScheme.class, "exchange",
            colon < 0 ? text : text.substring(0, colon));
        Arguments.require(colon < 0 || exchange == ExchangeScheme.OVERLAP, "exchange=" + text
            + " names a pull policy, but only overlap has one; remove the colon and the policy");
        return new Variant(exchange, colon < 0
            ? PullPolicy.ADAPTIVE
            : EnumNames.parse(PullPolicy.class, "pull", text.substring(colon + 1)));
    }

    /** The text that {@link #parse} converts to this variant. */
    public String variantName() {
        return exchange == ExchangeScheme.OVERLAP
            ? exchange + ":" + pull
            : exchange.toString();
    }
}
