package io.modeldisk.server.unit;

import io.modeldisk.aggregator.device.DeviceException;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import io.modeldisk.server.block.DeviceTasks;
import io.modeldisk.server.shard.Shard;

/** The base of the units that move a shard's weights: access to the blocks, and VPD pages with facts, status and counters. */
abstract class ShardUnit extends ModelUnit {
    private final Shard shard;

    ShardUnit(Shard shard, ValueType type, int lun, String product) {
        super(shard.facts().as(type), lun, product);
        this.shard = shard;
    }

    final Shard shard() {
        return shard;
    }

    @Override
    public final void pin(IoTask task, int dataOffset, Pin pin) throws ScsiException {
        try {
            pinWeights(task, dataOffset, pin);
        } catch (DeviceException e) {
            throw lost(e);
        }
    }

    /** Pins weights as {@link #pin} describes. */
    void pinWeights(IoTask task, int dataOffset, Pin pin) {
        shard.store().pin(task, dataOffset, pin);
    }

    @Override
    public final void unpin(Pin pin) {
        shard.store().unpin(pin);
    }

    /** Takes a write completely and returns true, or parks its task. A write that is refused with an exception has no effect. */
    abstract boolean take(IoTask task) throws ScsiException;

    /** Returns whether all earlier writes of the task's nexus were taken. Otherwise parks the task. */
    abstract boolean allTaken(IoTask task);

    @Override
    public final boolean write(IoTask task) throws ScsiException {
        RecordLog records = shard.records();
        try {
            // A write that was taken before it waited is not taken again.
            boolean taken = task.isTaken() || (records == null ? take(task) : takeWithRoom(task, records));
            return taken && hasLastingEffect(task, records);
        } catch (DeviceException e) {
            throw lost(e);
        }
    }

    /** Returns whether the records of this and all earlier writes are durable, and the device has applied their gradients. */
    private boolean hasLastingEffect(IoTask task, RecordLog records) {
        DeviceTasks onDevice = shard.store().deviceTasks();
        // Records are checked before the device, so the records of a task that already waits for the device are durable.
        boolean durable = records == null || task.deviceTicket() != 0 || records.isDurable(task);
        return durable && (onDevice == null || onDevice.isApplied(task));
    }

    private static ScsiException lost(DeviceException e) {
        return new ScsiException(Sense.INTERNAL_TARGET_FAILURE, e.getMessage());
    }

    private boolean takeWithRoom(IoTask task, RecordLog records) throws ScsiException {
        if (!records.reserve(task)) {
            return false;
        }
        try {
            return take(task);
        } finally {
            records.release(task);
        }
    }

    @Override
    public final boolean synchronizeCache(IoTask task) throws ScsiException {
        RecordLog records = shard.records();
        try {
            // A write first waits for room in the log, then for its round, and then for its records and the device. Earlier
            // writes are looked for in the same order, so none is missed.
            return (task.isTaken() || (records == null || records.admitSynchronization(task)) && allTaken(task))
                && hasLastingEffect(task, records);
        } catch (DeviceException e) {
            throw lost(e);
        }
    }

    @Override
    public void forget(IoTask task) {
        if (shard.records() != null) {
            shard.records().forget(task);
        }
        if (shard.store().deviceTasks() != null) {
            shard.store().deviceTasks().forget(task);
        }
    }

    @Override
    public final int[] vendorPageCodes() {
        return new int[]{ModelFacts.VPD_PAGE, ModelFacts.STATUS_VPD_PAGE, ShardCounters.VPD_PAGE};
    }

    @Override
    public final byte[] vendorPage(int code) {
        return switch (code) {
            case ModelFacts.VPD_PAGE -> facts.toJson();
            case ModelFacts.STATUS_VPD_PAGE -> shard.status();
            case ShardCounters.VPD_PAGE -> shard.counters().toBytes();
            default ->
                throw new IllegalArgumentException(PlainText.format("VPD page %02Xh must be C0h, C1h or C2h", code));
        };
    }
}
