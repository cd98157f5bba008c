package io.modeldisk.fault.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class RecordAssemblyTest {
    private static final int PAGE = RecordBatch.ALIGNMENT;
    private static final int CAPACITY = 16 * PAGE;

    private final MemorySegment batch = Arena.ofAuto().allocate(CAPACITY, PAGE);
    @AutoClose
    private final RecordAssembly assembly = new RecordAssembly(CAPACITY);
    private int end;

    private void write(long position, int bodyBytes) {
        RecordHeader.put(batch, end, RecordKind.PUSH, (byte) 0, 3, 0, bodyBytes, 1, 1, 1, bodyBytes, position, 2);
        for (int i = 0; i < bodyBytes; i++) {
            batch.set(ValueLayout.JAVA_BYTE, end + RecordHeader.BYTES + i, (byte) (position + i));
        }
        RecordHeader header = new RecordHeader().wrap(batch, end);
        header.seal(batch.asByteBuffer(), end, new CRC32C());
        end += (int) header.recordBytes();
    }

    private int pages() {
        return (end + PAGE - 1) / PAGE;
    }

    private List<Long> put(int page) throws DamagedRecordException {
        assembly.put(page * PAGE, batch, (long) page * PAGE, PAGE);
        List<Long> positions = new ArrayList<>();
        for (RecordHeader record = assembly.next(); record != null; record = assembly.next()) {
            positions.add(record.position());
        }
        return positions;
    }

    private List<Long> putAll() throws DamagedRecordException {
        List<Long> positions = new ArrayList<>();
        for (int page = 0; page < pages(); page++) {
            positions.addAll(put(page));
        }
        return positions;
    }

    private void nextBatch() throws DamagedRecordException {
        assembly.beginBatch();
        batch.fill((byte) 0);
        end = 0;
    }

    @Test
    void recordsAreReturnedInOrderWhenPartsArriveInAnyOrder() throws DamagedRecordException {
        Random random = new Random(1);
        long position = 5;
        for (int round = 0; round < 50; round++) {
            nextBatch();
            List<Long> expected = new ArrayList<>();
            while (end < CAPACITY / 2) {
                expected.add(position);
                write(position++, random.nextInt(3 * PAGE));
            }
            List<Integer> order = new ArrayList<>();
            for (int page = 0; page < pages(); page++) {
                order.add(page);
            }
            Collections.shuffle(order, random);
            List<Long> found = new ArrayList<>();
            for (int page : order) {
                found.addAll(put(page));
            }
            assertThat(found).isEqualTo(expected);
        }
    }

    @Test
    void recordsOfABatchThatIsSentAgainAreSkipped() throws DamagedRecordException {
        write(1, 100);
        write(2, 5000);
        assertThat(putAll()).containsExactly(1L, 2L);
        assembly.beginBatch();
        assertThat(putAll()).isEmpty();
    }

    @Test
    void missingRecordIsRefused() throws DamagedRecordException {
        write(1, 8);
        write(3, 8);
        assertThatThrownBy(this::putAll).hasMessageContaining("position 3 instead of 2");
    }

    @Test
    void flippedBitOfARecordIsDetectedBeforeTheNextBatch() throws DamagedRecordException {
        write(1, 40);
        int recordBytes = end;
        write(2, 40);
        for (int bit = 0; bit < recordBytes * Byte.SIZE; bit++) {
            byte value = batch.get(ValueLayout.JAVA_BYTE, bit / Byte.SIZE);
            batch.set(ValueLayout.JAVA_BYTE, bit / Byte.SIZE, (byte) (value ^ 1 << bit % Byte.SIZE));
            assembly.beginStream();
            assertThatThrownBy(() -> {
                assertThat(putAll()).isEmpty();
                assembly.beginBatch();
            }).as("bit " + bit).isInstanceOf(DamagedRecordException.class);
            batch.set(ValueLayout.JAVA_BYTE, bit / Byte.SIZE, value);
        }
        assembly.beginStream();
        assertThat(putAll()).containsExactly(1L, 2L);
    }

    @Test
    void batchThatEndsInsideARecordIsRefused() throws DamagedRecordException {
        write(1, 2 * PAGE);
        put(0);
        assertThatThrownBy(assembly::beginBatch).hasMessageContaining("the batch ends at byte 4096");
    }

    @Test
    void newStreamCanBeginAtAnyPosition() throws DamagedRecordException {
        write(7, 8);
        assertThat(putAll()).containsExactly(7L);
        assembly.beginStream();
        nextBatch();
        write(3, 8);
        assertThat(putAll()).containsExactly(3L);
    }
}
