package io.modeldisk.protocol.engine;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.pdu.NopInPdu;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of the computation of ExpCmdSN and MaxCmdSN (RFC 7143 section 4.2.2.1). */
@Timeout(60)
class CommandWindowTest {
    private static final int START = 0xFFFFFFFE;

    private final BufferPool pool = new BufferPool(16L * BufferPool.CHUNK_BYTES, 2);
    private final CommandWindow window = new CommandWindow(null, pool, null, 8, 10);
    private final NopInPdu response = new NopInPdu(Pdu.newHeader());

    @BeforeEach
    void open() {
        window.open(2);
        window.start(START, 1);
    }

    @AfterEach
    void close() {
        window.close();
        assertThat(pool.freeChunks()).as("free chunks").isEqualTo(16);
        pool.close();
    }

    private TaskSlot taken;

    private CommandWindow.Order arrives(int cmdSn, boolean immediate) {
        ScsiCommandPdu command = new ScsiCommandPdu(Pdu.newHeader()).beginWithoutData();
        if (immediate) {
            command.setImmediate();
        }
        command.numbers(cmdSn, 0);
        CommandWindow.Order order = window.orderOf(command);
        if (order == CommandWindow.Order.TAKE) {
            taken = window.take();
            window.count(command);
        }
        return order;
    }

    private int roomTold() {
        window.stamp(response, false);
        return response.maxCmdSn() - response.expCmdSn() + 1;
    }

    @Test
    void windowOffersOneCommandForEachFreeSlot() {
        assertThat(roomTold()).isEqualTo(2);
    }

    @Test
    void cmdSnWrapsAroundAfterItsMaximum() {
        for (int i = 0; i < 4; i++) {
            roomTold();
            assertThat(arrives(START + i, false)).isEqualTo(CommandWindow.Order.TAKE);
            window.ending();
            window.give(taken);
        }
    }

    @Test
    void commandInFlightOccupiesOneSlotOfTheWindow() {
        roomTold();
        arrives(START, false);
        assertThat(roomTold()).isEqualTo(1);
        window.giveAborted(window.slot(1));
    }

    @Test
    void slotCountsAsFreeWhileTheStatusOfItsTaskIsSent() {
        roomTold();
        arrives(START, false);
        TaskSlot slot = taken;
        window.ending();
        assertThat(roomTold()).isEqualTo(2);
        window.give(slot);
    }

    @Test
    void windowGrowsWhileThePoolHasMoreFreeChunksThanItsReserve() {
        for (int i = 0; i < 12; i++) {
            roomTold();
            arrives(START + i, false);
            window.ending();
            window.give(taken);
        }
        assertThat(roomTold()).as("size of the window that leaves a reserve of ten chunks").isEqualTo(6);
    }

    @Test
    void maxCmdSnNeverDecreases() {
        roomTold();
        int before = response.maxCmdSn();
        arrives(START, true);
        TaskSlot slot = taken;
        roomTold();
        assertThat(response.maxCmdSn()).isEqualTo(before);
        window.giveAborted(slot);
    }

    @Test
    void commandBeyondMaxCmdSnIsIgnored() {
        roomTold();
        assertThat(arrives(START + 2, false)).isEqualTo(CommandWindow.Order.IGNORE);
    }

    @Test
    void commandAfterAMissingCmdSnIsReportedAsAGap() {
        roomTold();
        assertThat(arrives(START + 1, false)).isEqualTo(CommandWindow.Order.GAP);
    }

    @Test
    void threadStopsWaitingForAFreeSlotWhenTheConnectionIsClosed() throws Exception {
        roomTold();
        arrives(START, false);
        TaskSlot first = taken;
        arrives(START + 1, false);
        TaskSlot second = taken;
        window.ending();
        CompletableFuture<Boolean> putInProgress = new CompletableFuture<>();
        Thread waiting = Thread.ofPlatform().start(() -> putInProgress.complete(window.awaitEnding()));
        await("the thread waits for a free slot", () -> waiting.getState() == Thread.State.WAITING);
        window.connectionEnds();
        assertThat(putInProgress.get(10, TimeUnit.SECONDS)).isFalse();
        assertThat(window.take()).isNull();
        window.give(first);
        window.giveAborted(second);
    }
}
