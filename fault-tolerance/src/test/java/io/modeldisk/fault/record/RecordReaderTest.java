package io.modeldisk.fault.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class RecordReaderTest {
    private static final int PAGE = RecordBatch.ALIGNMENT;

    private final MemorySegment memory = Arena.ofAuto().allocate(4 * PAGE, PAGE);
    private final RecordHeader writer = new RecordHeader();
    private int end;

    private void write(long position, int bodyBytes) {
        RecordHeader.put(memory, end, RecordKind.PUSH, (byte) 0, 3, PAGE, bodyBytes, -7, 5, 9, bodyBytes, position, 2);
        for (int i = 0; i < bodyBytes; i++) {
            memory.set(ValueLayout.JAVA_BYTE, end + RecordHeader.BYTES + i, (byte) (position + i));
        }
        writer.wrap(memory, end).seal(memory.asByteBuffer(), end, new CRC32C());
        end += (int) writer.recordBytes();
    }

    private RecordReader reader() {
        return new RecordReader(memory, 1);
    }

    @Test
    void readerReturnsTheFieldsOfEachRecordInOrder() throws DamagedRecordException {
        write(1, 13);
        write(2, 0);
        RecordReader reader = reader();

        RecordHeader first = reader.next();
        assertThat(first.kind()).isEqualTo(RecordKind.PUSH);
        assertThat(first.block()).isEqualTo(3);
        assertThat(first.offset()).isEqualTo(PAGE);
        assertThat(first.rangeBytes()).isEqualTo(13);
        assertThat(first.bodyBytes()).isEqualTo(13);
        assertThat(first.recordBytes()).isEqualTo(80);
        assertThat(first.learner()).isEqualTo(-7);
        assertThat(first.round()).isEqualTo(5);
        assertThat(first.version()).isEqualTo(9);
        assertThat(first.position()).isEqualTo(1);
        assertThat(first.epoch()).isEqualTo(2);
        assertThat(reader.next().position()).isEqualTo(2);
        assertThat(reader.offset()).isEqualTo(80);
        assertThat(reader.next()).isNull();
        assertThat(reader.nextOffset()).isGreaterThanOrEqualTo(144);
    }

    @Test
    void readerSkipsTheZerosAfterABatch() throws DamagedRecordException {
        write(1, 8);
        end = PAGE;
        write(2, 8);
        RecordReader reader = reader();

        reader.next();
        assertThat(reader.next().position()).isEqualTo(2);
        assertThat(reader.next()).isNull();
    }

    @Test
    void everyFlippedBitIsDetected() throws DamagedRecordException {
        write(1, 21);
        for (long bit = 0; bit < end * 8L; bit++) {
            byte value = memory.get(ValueLayout.JAVA_BYTE, bit / 8);
            memory.set(ValueLayout.JAVA_BYTE, bit / 8, (byte) (value ^ 1 << bit % 8));
            assertThatThrownBy(() -> reader().next()).isInstanceOf(DamagedRecordException.class);
            memory.set(ValueLayout.JAVA_BYTE, bit / 8, value);
        }
        assertThat(reader().next()).isNotNull();
    }

    @Test
    void recordThatIsCutShortIsDetected() throws DamagedRecordException {
        write(1, 21);
        write(2, 100);
        for (int length = 89; length < end; length++) {
            RecordReader reader = new RecordReader(memory.asSlice(0, length), 1);
            reader.next();
            assertThatThrownBy(reader::next).isInstanceOf(DamagedRecordException.class);
        }
    }

    @Test
    void missingRecordIsDetected() throws DamagedRecordException {
        write(1, 8);
        write(3, 8);
        RecordReader reader = reader();

        reader.next();
        assertThatThrownBy(reader::next).hasMessageContaining("position 3 instead of 2");
    }

    @Test
    void recordAfterAHoleIsRefused() throws DamagedRecordException {
        write(1, 8);
        end = 2 * PAGE;
        write(2, 8);
        RecordReader reader = reader();

        reader.next();
        assertThatThrownBy(reader::next).isInstanceOf(DamagedRecordException.class);
    }
}
