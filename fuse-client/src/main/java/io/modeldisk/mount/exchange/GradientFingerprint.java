package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/**
 * A number that tells two gradients apart: two checksums of the bytes and places of the logical blocks that were written. It is
 * taken only when an fsync fails, so that it costs a successful fsync nothing.
 */
final class GradientFingerprint {
    private GradientFingerprint() {}

    /** Returns the fingerprint of the marked blocks, not 0. */
    static long of(DataMemory gradient, DirtyBlocks marked) {
        CRC32 one = new CRC32();
        CRC32C other = new CRC32C();
        ByteBuffer place = ByteBuffer.allocate(Long.BYTES);
        for (long from = marked.nextDirty(0); from >= 0; from = marked.nextDirty(from)) {
            long end = marked.nextClean(from);
            one.update(place.putLong(0, from).rewind());
            other.update(place.rewind());
            for (; from < end; from += LogicalBlock.BYTES) {
                ByteBuffer block = gradient.segment(from, LogicalBlock.BYTES).asByteBuffer();
                one.update(block);
                other.update(block.rewind());
            }
        }
        long both = one.getValue() << Integer.SIZE | other.getValue();
        return both == 0 ? 1 : both;
    }
}
