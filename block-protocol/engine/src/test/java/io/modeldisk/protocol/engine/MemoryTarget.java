package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A target with one logical unit of plain memory, for tests of the protocol. The unit can park its tasks. */
public final class MemoryTarget implements Target, AutoCloseable {
    public static final String NAME = "iqn.2026-11.io.modeldisk:memory";

    public final MemoryUnit unit;
    public final List<String> nexusEvents = new CopyOnWriteArrayList<>();
    /** The maximum time in nanoseconds for which a nexus can be silent. */
    public volatile long silenceBoundNs = Long.MAX_VALUE;
    /** The number of times that the watchdog has read {@link #silenceBoundNs}. */
    public final AtomicInteger silenceChecks = new AtomicInteger();
    /** An action that runs before the target records a silent nexus. */
    public volatile Runnable silencing = () -> {};
    /** An action that runs before the target records a lost nexus. */
    public volatile Runnable losing = () -> {};
    private final DataMemory memory;
    private final TargetPortGroups portGroups;

    /**
     * Creates a target on memory that several targets can share. A test closes only one of these targets, because the close frees
     * the memory.
     */
    public MemoryTarget(DataMemory memory, TargetPortGroups portGroups) {
        this.portGroups = portGroups;
        this.memory = memory;
        unit = new MemoryUnit(memory);
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<DataMemory> memories() {
        return List.of(memory);
    }

    @Override
    public List<LogicalUnit> units() {
        return List.of(unit);
    }

    @Override
    public TargetPortGroups portGroups() {
        return portGroups;
    }

    @Override
    public long silenceBoundNs(Nexus nexus) {
        silenceChecks.incrementAndGet();
        return silenceBoundNs;
    }

    @Override
    public void nexusSilent(Nexus nexus, long silentNs) {
        silencing.run();
        nexusEvents.add("silent " + nexus.learner());
    }

    @Override
    public void nexusEstablished(Nexus nexus) {
        nexusEvents.add("established " + nexus.learner());
    }

    @Override
    public void nexusLost(Nexus nexus, boolean loggedOut) {
        losing.run();
        nexusEvents.add((loggedOut ? "logged out " : "lost ") + nexus.learner());
    }

    @Override
    public void close() {
        memory.close();
    }

    /** The logical unit. Concurrent writes to one range could mix their data, so a test uses only one writer for each range. */
    public static final class MemoryUnit implements DiskUnit {
        private static final CdbUsage ECHO = CdbUsage.parse("C0 00 FF 00 00 00");

        private final DataMemory memory;
        public final List<IoTask> parked = new CopyOnWriteArrayList<>();
        public volatile boolean parking;
        /** True if a parked write has changed the medium. */
        public volatile boolean changedByParked;
        /** True if the logical unit supports PUSH and PULL. */
        public volatile boolean keepsRounds;
        /** The round of the last command. */
        public volatile long round;
        public volatile boolean declaredFinite;
        /** The maximum length in bytes of a pinned piece of a read. */
        public volatile int longestPinBytes = Integer.MAX_VALUE;
        /** The maximum number of pieces that were pinned at the same time. */
        public final AtomicInteger mostPinned = new AtomicInteger();
        private final AtomicInteger pinned = new AtomicInteger();
        /** An action that runs before a piece of a read is pinned. */
        public volatile Consumer<IoTask> pinning = _ -> {};
        /** An action that runs before a WRITE SAME fills a block of the logical unit. */
        public volatile Runnable filling = () -> {};

        MemoryUnit(DataMemory memory) {
            this.memory = memory;
        }

        public DataMemory memory() {
            return memory;
        }

        @Override
        public LogicalUnitIdentity identity() {
            return new LogicalUnitIdentity(0, "memory", "memory-0", 0x0123456789ABCDEFL);
        }

        @Override
        public long sizeBytes() {
            return memory.bytes();
        }

        @Override
        public int optimalTransferBytes() {
            return 256 * 1024;
        }

        @Override
        public boolean mayReset(Nexus nexus) {
            return nexus.may(Right.LEARN);
        }

        private boolean admit(IoTask task) {
            round = task.round();
            declaredFinite = task.declaredFinite();
            if (parking) {
                parked.add(task);
                return false;
            }
            return true;
        }

        @Override
        public boolean admitRead(IoTask task) {
            return admit(task);
        }

        @Override
        public void pin(IoTask task, int dataOffset, Pin pin) {
            pinning.accept(task);
            long offset = task.offset() + dataOffset;
            int length = Math.min(Math.min(task.lengthBytes() - dataOffset, longestPinBytes),
                memory.bytesLeftInSlab(offset));
            pin.set(memory, offset, length, null);
            mostPinned.accumulateAndGet(pinned.incrementAndGet(), Math::max);
        }

        @Override
        public void unpin(Pin pin) {
            pinned.decrementAndGet();
        }

        public static boolean isAborted(IoTask task) {
            return ((TaskSlot) task).endReason() == EndReason.ABORTED;
        }

        /** Returns the number of pinned pieces. */
        public int pinned() {
            return pinned.get();
        }

        @Override
        public boolean write(IoTask task) {
            if (!admit(task)) {
                return false;
            }
            long offset = task.offset();
            for (int i = 0; i < task.pieceCount(); i++) {
                int length = task.pieceLengthBytes(i);
                MemorySegment from = task.memory().segment(task.pieceOffset(i), length);
                MemorySegment.copy(from, 0, memory.slab(offset), DataMemory.offsetInSlab(offset), length);
                offset += length;
            }
            return true;
        }

        @Override
        public long firstDifference(IoTask task) {
            long offset = task.offset();
            for (int i = 0; i < task.pieceCount(); i++) {
                int length = task.pieceLengthBytes(i);
                MemorySegment data = task.memory().segment(task.pieceOffset(i), length);
                long difference = data.mismatch(memory.segment(offset, length));
                if (difference >= 0) {
                    return offset + difference - task.offset();
                }
                offset += length;
            }
            return -1;
        }

        @Override
        public long firstDifference(long offset, int lengthBytes, MemorySegment block) {
            for (int at = 0; at < lengthBytes; at += LogicalBlock.BYTES) {
                MemorySegment here = memory.segment(offset + at, LogicalBlock.BYTES);
                long difference = here.mismatch(block.asSlice(0, LogicalBlock.BYTES));
                if (difference >= 0) {
                    return at + difference;
                }
            }
            return -1;
        }

        @Override
        public boolean fill(IoTask task, long offset, int lengthBytes, MemorySegment block) {
            if (!admit(task)) {
                return false;
            }
            filling.run();
            for (int at = 0; at < lengthBytes; at += LogicalBlock.BYTES) {
                MemorySegment here = memory.segment(offset + at, LogicalBlock.BYTES);
                if (block == null) {
                    here.fill((byte) 0);
                } else {
                    here.copyFrom(block.asSlice(0, LogicalBlock.BYTES));
                }
            }
            return true;
        }

        @Override
        public boolean wouldCountTwice(IoTask task) {
            return changedByParked;
        }

        @Override
        public boolean synchronizeCache(IoTask task) {
            return true;
        }

        @Override
        public void forget(IoTask task) {
            parked.remove(task);
        }

        @Override
        public List<CdbUsage> vendorCommands() {
            return keepsRounds ? List.of(ECHO, RoundCdb.PUSH_USAGE, RoundCdb.PULL_USAGE) : List.of(ECHO);
        }

        /** Returns byte 2 of the CDB as the parameter data. */
        @Override
        public byte[] vendorCommand(Nexus nexus, Cdb cdb) {
            return new byte[]{(byte) cdb.u8(2)};
        }

        @Override
        public int[] vendorPageCodes() {
            return new int[]{0xC0};
        }

        @Override
        public byte[] vendorPage(int code) {
            return "{}".getBytes(StandardCharsets.US_ASCII);
        }
    }
}
