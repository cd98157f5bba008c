package io.modeldisk.protocol.datamover.iser;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ChannelUsesTest {
    private final ChannelUses<Integer, String> uses = new ChannelUses<>();

    @Test
    void channelIsUsedFromTheRequestUntilTheRequestIsRefused() {
        assertThat(uses.isEmpty()).isTrue();
        uses.requested();
        assertThat(uses.isEmpty()).isFalse();
        uses.refused();
        assertThat(uses.isEmpty()).isTrue();
    }

    @Test
    void channelIsUsedFromTheRequestUntilTheConnectionEnds() {
        uses.requested();
        uses.requested();
        uses.opened(1, "one");
        uses.refused();
        assertThat(uses.isEmpty()).isFalse();
        assertThat(uses.connection(1)).isEqualTo("one");
        assertThat(uses.connection(null)).isNull();
        uses.ended(1);
        assertThat(uses.isEmpty()).isTrue();
        assertThat(uses.connection(1)).isNull();
    }

    @Test
    void channelIsUsedWhileARequestBecomesAConnection() throws Exception {
        uses.requested();
        AtomicBoolean stopped = new AtomicBoolean();
        CompletableFuture<Boolean> everEmpty = CompletableFuture.supplyAsync(() -> {
            boolean empty = false;
            while (!empty && !stopped.get()) {
                empty = uses.isEmpty();
            }
            return empty;
        }, task -> Thread.ofPlatform().daemon().start(task));
        for (int i = 0; i < 100_000; i++) {
            uses.opened(i, "connection");
            uses.requested();
            uses.ended(i);
        }
        stopped.set(true);
        assertThat(everEmpty.get(10, TimeUnit.SECONDS)).isFalse();
    }
}
