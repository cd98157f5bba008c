package io.modeldisk.protocol.datamover.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.datamover.DataTransfer;
import io.modeldisk.protocol.memory.DataMemory;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests which target transfer tags a slot accepts for late data. */
class TcpTransferTest {
    private static final int SLOT = 5;
    /** The number of transfers of one slot after which target transfer tags repeat. */
    private static final int TAGS = 1 << 19;

    @AutoClose
    private final DataMemory memory = DataMemory.allocate(4096);
    private final DataTransfer data = new DataTransfer(SLOT, memory, 4096, 1);
    private final TcpTransfer transfer = new TcpTransfer();

    private int begin(int transfers) {
        for (int i = 0; i < transfers; i++) {
            transfer.begin(data);
        }
        return transfer.targetTransferTag();
    }

    private static int tag(int generation) {
        return generation << 12 | SLOT;
    }

    @Test
    void unusedSlotHasIssuedNoTag() {
        assertThat(transfer.hasGiven(tag(0))).isFalse();
        assertThat(transfer.hasGiven(tag(1))).isFalse();
        assertThat(transfer.hasGiven(tag(TAGS - 1))).isFalse();
    }

    @Test
    void tagIsValidOnlyIfATransferOfTheSlotHasUsedTheTag() {
        int first = begin(1);
        int third = begin(2);
        assertThat(transfer.hasGiven(first)).isTrue();
        assertThat(transfer.hasGiven(third)).isTrue();
        assertThat(transfer.hasGiven(tag(0))).isFalse();
        assertThat(transfer.hasGiven(tag(4))).isFalse();
        assertThat(transfer.hasGiven(tag(TAGS - 1))).isFalse();
    }

    @Test
    void tagOfAFutureTransferIsInvalidAfterTagsHaveStartedToRepeat() {
        int before = begin(TAGS - 1);
        int current = begin(3);
        assertThat(current).isEqualTo(tag(2));
        assertThat(transfer.hasGiven(before)).isTrue();
        assertThat(transfer.hasGiven(current)).isTrue();
        assertThat(transfer.hasGiven(tag(3))).isFalse();
        assertThat(transfer.hasGiven(tag(TAGS / 2))).isFalse();
    }
}
