package io.modeldisk.bench.training;

import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.scheduling.PullPolicy;

/**
 * An exchange scheme, and when it pulls.
 *
 * @param exchange the scheme
 * @param pull when overlap pulls
 */
public record Variant(ExchangeScheme exchange, PullPolicy pull) {
    /**
     * Reads {@code sync}, {@code overlap} or {@code overlap:after-push}.
     *
     * @throws IllegalArgumentException with what there is
     */
    public static Variant parse(String text) {
        int colon = text.indexOf(':');
        ExchangeScheme exchange = ExchangeScheme.named(colon < 0 ? text : text.substring(0, colon));
        if (colon >= 0 && exchange != ExchangeScheme.OVERLAP) {
            throw new IllegalArgumentException("exchange=" + text + ": only overlap can be told when to pull");
        }
        return new Variant(exchange, colon < 0 ? PullPolicy.ADAPTIVE : PullPolicy.named(text.substring(colon + 1)));
    }

    /** As {@link #parse} reads it. */
    public String variantName() {
        return exchange == ExchangeScheme.OVERLAP
            ? exchange.schemeName() + ":" + pull.policyName()
            : exchange.schemeName();
    }
}
