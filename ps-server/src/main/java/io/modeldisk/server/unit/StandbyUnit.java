package io.modeldisk.server.unit;

import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.DiskUnit;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.server.status.ShardStatus;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * A logical unit without data. It reports the identity, the size and the facts of a unit that another process serves. The engine
 * runs no command on the medium, because the target port group of this process is not active.
 */
public class StandbyUnit extends ModelUnit {
    private final List<CdbUsage> vendorCommands;
    private final LongSupplier epoch;

    /**
     * Creates a unit.
     *
     * @param facts the facts, with the sizes for the value type of the unit
     * @param epoch returns the epoch of the process that serves the shard
     */
    StandbyUnit(ModelFacts facts, int lun, String product, List<CdbUsage> vendorCommands, LongSupplier epoch) {
        super(facts, lun, product);
        this.epoch = epoch;
        this.vendorCommands = vendorCommands;
    }

    /** Creates the train unit of a value type. {@code facts} are the facts of the float32 unit. */
    public static StandbyUnit train(ModelFacts facts, ValueType type, LongSupplier epoch) {
        return new StandbyUnit(facts.as(type), type.lun(), TrainUnit.product(type), TrainUnit.commands(type), epoch);
    }

    @Override
    public boolean mayReset(Nexus nexus) {
        return nexus.may(Right.LEARN);
    }

    @Override
    public final boolean admitRead(IoTask task) {
        throw noData();
    }

    @Override
    public final void pin(IoTask task, int dataOffset, Pin pin) {
        throw noData();
    }

    @Override
    public final void unpin(Pin pin) {
        throw noData();
    }

    @Override
    public final boolean write(IoTask task) {
        throw noData();
    }

    @Override
    public final boolean synchronizeCache(IoTask task) {
        throw noData();
    }

    private static IllegalStateException noData() {
        return new IllegalStateException("a standby has no data, but its target port group is active");
    }

    @Override
    public final void forget(IoTask task) {
        // No task waits at this logical unit.
    }

    @Override
    public final List<CdbUsage> vendorCommands() {
        return vendorCommands;
    }

    @Override
    public final int[] vendorPageCodes() {
        return new int[]{ModelFacts.VPD_PAGE, ModelFacts.STATUS_VPD_PAGE};
    }

    @Override
    public final byte[] vendorPage(int code) {
        return code == ModelFacts.VPD_PAGE ? facts.toJson() : ShardStatus.ofStandby(facts, epoch.getAsLong());
    }

    /** A unit that supports the commands of a plain disk. */
    public static final class Disk extends StandbyUnit implements DiskUnit {
        public Disk(ModelFacts facts, int lun, String product, LongSupplier epoch) {
            super(facts, lun, product, List.of(), epoch);
        }

        @Override
        public boolean mayReset(Nexus nexus) {
            return nexus.may(Right.RAW);
        }

        @Override
        public long firstDifference(IoTask task) {
            throw noData();
        }

        @Override
        public long firstDifference(long offset, int lengthBytes, MemorySegment block) {
            throw noData();
        }

        @Override
        public boolean fill(IoTask task, long offset, int lengthBytes, MemorySegment block) {
            throw noData();
        }
    }
}
