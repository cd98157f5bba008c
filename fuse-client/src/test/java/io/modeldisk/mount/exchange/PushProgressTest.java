package io.modeldisk.mount.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class PushProgressTest {
    private static final long PIECE = 256 << 10;
    private static final long BYTES = 3 * PIECE - 4096;

    private final PushProgress progress = new PushProgress(BYTES);

    @BeforeEach
    void begin() {
        progress.begin(2, PushProgress.Cut.FINE);
    }

    @Test
    void eachPieceIsTakenOnceAndTheLastIsShorter() {
        assertThat(progress.take()).isZero();
        assertThat(progress.take()).isEqualTo(PIECE);
        assertThat(progress.take()).isEqualTo(2 * PIECE);
        assertThat(progress.take()).isEqualTo(-1);
        assertThat(progress.end(2 * PIECE)).isEqualTo(BYTES);
    }

    @Test
    void aPushAloneIsCutIntoFewerPieces() {
        PushProgress alone = new PushProgress(9 * PIECE);
        alone.begin(1, PushProgress.Cut.COARSE);
        assertThat(alone.take()).isZero();
        assertThat(alone.take()).isEqualTo(4 * PIECE);
        assertThat(alone.take()).isEqualTo(8 * PIECE);
        assertThat(alone.take()).isEqualTo(-1);
        assertThat(alone.pushed(8 * PIECE, 1)).isFalse();
        assertThat(alone.pushed(0, 1)).isFalse();
        assertThat(alone.pushed(4 * PIECE, 1)).isTrue();
        alone.begin(1, PushProgress.Cut.FINE);
        assertThat(alone.end(0)).isEqualTo(PIECE);
    }

    @Test
    void aPieceCountsOnlyWhenAllBeforeItAreDone() throws IOException {
        assertThat(progress.pushed(PIECE, 5)).isFalse();
        CompletableFuture<Long> waits = CompletableFuture.supplyAsync(() -> {
            try {
                return progress.awaitBeyond(0);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThat(waits).isNotDone();
        assertThat(progress.pushed(0, 6)).isFalse();
        assertThat(waits.orTimeout(10, TimeUnit.SECONDS).join()).isEqualTo(2 * PIECE);
        assertThat(progress.pushed(2 * PIECE, 0)).isTrue();
        assertThat(progress.isComplete()).isTrue();
        assertThat(progress.pushedBytes()).isEqualTo(11);
    }

    @Test
    void afterAFailureNoPieceIsTakenAndTheLastToLeaveIsTold() {
        assertThat(progress.leave(true)).isFalse();
        assertThat(progress.take()).isEqualTo(-1);
        assertThat(progress.leave(false)).isTrue();
    }

    @Test
    void whoWaitsIsToldThatItWasStopped() throws IOException {
        progress.stop();
        assertThat(progress.awaitBeyond(0)).isEqualTo(-1);
        progress.begin(1, PushProgress.Cut.FINE);
        assertThat(progress.isStopped()).isFalse();
    }
}
