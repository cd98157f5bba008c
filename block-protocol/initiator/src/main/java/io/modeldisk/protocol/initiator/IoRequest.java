package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.datamover.InitiatorTask;
import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.scsi.ScsiCommand;
import io.modeldisk.protocol.scsi.ScsiStatus;
import io.modeldisk.protocol.scsi.Sense;

/**
 * A place for one command of a session. Taken with {@link IscsiSession#acquire}, filled by {@link #read}, {@link #write} or
 * {@link #control}, given to {@link IscsiSession#submit}, and free again when its {@link Completion} returns. Not thread-safe:
 * it belongs to the caller until it is submitted, and to the session until it completes.
 */
public final class IoRequest implements InitiatorTask {
    /** Hears of a command's end; called by the session's receiving thread, which it must not hold up. */
    @FunctionalInterface
    public interface Completion {
        /** The command has ended: see {@link IoRequest#isGood()} and the rest. The request is free when this returns. */
        void completed(IoRequest request);
    }

    private static final int SLOT_BITS = 10;
    private static final int UNIT_ATTENTION = 0x6;

    private final int slot;
    private final ScsiCommandPdu command = new ScsiCommandPdu(Pdu.newHeader());
    private int generation;
    private DataMemory memory;
    private long memoryOffset;
    private int lengthBytes;
    private boolean writes;
    private Completion completion;
    private volatile boolean inFlight;
    private int status;
    private String failure;
    private int sense;

    IoRequest(int slot) {
        this.slot = slot;
    }

    static int slotOf(int initiatorTaskTag) {
        return initiatorTaskTag & (1 << SLOT_BITS) - 1;
    }

    /** Reads logical blocks into memory. */
    public IoRequest read(int lun, long lba, int blocks, DataMemory to, long offset, int bytes) {
        command.beginRead(bytes);
        return medium(ScsiCommand.READ_16.opcode(), lun, lba, blocks, to, offset, bytes, false);
    }

    /** Writes logical blocks from memory. */
    public IoRequest write(int lun, long lba, int blocks, DataMemory from, long offset, int bytes) {
        command.beginWrite(bytes);
        return medium(ScsiCommand.WRITE_16.opcode(), lun, lba, blocks, from, offset, bytes, true);
    }

    /** Pushes a gradient of a round (the vendor-specific command PUSH). */
    public IoRequest push(int lun, long lba, int blocks, long round, DataMemory from, long offset, int bytes) {
        command.beginWrite(bytes);
        return ofRound(RoundCdb.PUSH, lun, lba, blocks, round, from, offset, bytes, true);
    }

    /** Pulls weights with at least a round applied (the vendor-specific command PULL). */
    public IoRequest pull(int lun, long lba, int blocks, long round, DataMemory to, long offset, int bytes) {
        command.beginRead(bytes);
        return ofRound(RoundCdb.PULL, lun, lba, blocks, round, to, offset, bytes, false);
    }

    private IoRequest ofRound(
        int opcode, int lun, long lba, int blocks, long round, DataMemory data, long offset, int bytes, boolean write) {
        prepare(lun, data, offset, bytes, write);
        command.cdb(0, opcode).cdbInt(RoundCdb.LBA_FIELD, (int) lba);
        command.cdbLong(RoundCdb.BLOCKS_FIELD, RoundCdb.blocksAndRound(blocks, round));
        return this;
    }

    private IoRequest medium(
        int opcode, int lun, long lba, int blocks, DataMemory data, long offset, int bytes, boolean write) {
        prepare(lun, data, offset, bytes, write);
        command.cdb(0, opcode).cdbLong(2, lba).cdbInt(10, blocks);
        return this;
    }

    /** A command of any kind that returns up to {@code bytes} of parameter data, or has none if that is 0. */
    public IoRequest control(int lun, byte[] cdb, DataMemory to, long offset, int bytes) {
        if (bytes == 0) {
            command.beginWithoutData();
        } else {
            command.beginRead(bytes);
        }
        prepare(lun, to, offset, bytes, false);
        for (int i = 0; i < cdb.length; i++) {
            command.cdb(i, cdb[i]);
        }
        return this;
    }

    private void prepare(int lun, DataMemory data, long offset, int bytes, boolean write) {
        generation++;
        memory = data;
        memoryOffset = offset;
        lengthBytes = bytes;
        writes = write;
        status = -1;
        failure = null;
        sense = 0;
        command.lunField(Pdu.encodeLun(lun));
        command.initiatorTaskTag(initiatorTaskTag());
    }

    /** Sets who hears of the end. */
    public IoRequest onCompletion(Completion listener) {
        completion = listener;
        return this;
    }

    /** The number of this place in its session, from 0 to the queue depth - 1. */
    public int slot() {
        return slot;
    }

    ScsiCommandPdu command() {
        return command;
    }

    Completion completion() {
        return completion;
    }

    boolean isInFlight() {
        return inFlight;
    }

    void inFlight(boolean now) {
        inFlight = now;
    }

    void ended(int scsiStatus, int senseKeyAscAscq) {
        status = scsiStatus;
        sense = senseKeyAscAscq;
    }

    void failed(String reason) {
        failure = reason;
    }

    /** Whether the command completed with status GOOD. */
    public boolean isGood() {
        return failure == null && status == 0;
    }

    /** Whether the target has done nothing of the command, and takes it when it is sent again. */
    public boolean isToBeRetried() {
        return failure == null && switch (status) {
            case ScsiStatus.BUSY, ScsiStatus.TASK_SET_FULL, ScsiStatus.TASK_ABORTED -> true;
            case ScsiStatus.CHECK_CONDITION -> sense >> 16 == UNIT_ATTENTION;
            default -> false;
        };
    }

    /** The SCSI status; -1 if the session failed before there was one. */
    public int status() {
        return status;
    }

    /** Why the session failed; null if it did not. */
    public String failure() {
        return failure;
    }

    /** How the command ended, in words. */
    public String describeEnd() {
        if (failure != null) {
            return failure;
        }
        String words = ScsiStatus.describe(status);
        if (sense == 0) {
            return words;
        }
        return words + ", " + RoundSense.describe(Sense.of(sense >> 16, sense >> 8 & 0xFF, sense & 0xFF));
    }

    /** Sense key, additional sense code and qualifier, a byte each from bit 16 down; 0 without sense data. */
    public int sense() {
        return sense;
    }

    @Override
    public int initiatorTaskTag() {
        return (generation & 0x1FFFFF) << SLOT_BITS | slot;
    }

    @Override
    public long lunField() {
        return command.lunField();
    }

    @Override
    public boolean writes() {
        return writes;
    }

    @Override
    public DataMemory memory() {
        return memory;
    }

    @Override
    public long memoryOffset() {
        return memoryOffset;
    }

    @Override
    public int lengthBytes() {
        return lengthBytes;
    }
}
