package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.datamover.InitiatorTask;
import io.modeldisk.protocol.dialect.AbsentCommand;
import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.scsi.ScsiCommand;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A request that carries one command of a session. The session reuses its requests. The caller acquires a request with
 * {@link IscsiSession#acquire}, fills it with {@link #read}, {@link #write}, {@link #push}, {@link #pull} or {@link #control},
 * and passes it to {@link IscsiSession#submit}. The request is free again when its {@link Completion} returns. Not thread-safe: a
 * request belongs to the caller until it is submitted, and to the session afterwards.
 */
public final class IoRequest implements InitiatorTask {
    /** Handles the end of a command. The session's receiving thread calls the handler, so the handler must not block. */
    @FunctionalInterface
    public interface Completion {
        /** Handles a completed or failed command; see {@link IoRequest#isGood()}. The session then frees the request. */
        void completed(IoRequest request);
    }

    /**
     * The states of a request.
     *
     * <pre>
     *            acquire            submit                 a response, an abort, or a lost session
     *     FREE ----------> HELD --------------> IN_FLIGHT ---------------------------------------> ENDED
     *      ^    release     |  ^                   |                                                  |
     *      +----------------+  +-------------------+                                                  |
     *      |              the command cannot be sent                                                  |
     *      +------------------------------------------------------------------------------------------+
     *                                       the completion has returned
     * </pre>
     */
    enum State {
        /** The request has no command and can be acquired. */
        FREE,
        /** A caller has acquired the request, and has not submitted or released the request yet. */
        HELD,
        /** The caller has submitted the request, and its command has not completed or failed yet. */
        IN_FLIGHT,
        /** The command has completed or failed, and its {@link Completion} has not returned yet. */
        ENDED
    }

    private static final int SLOT_BITS = 10;
    private static final int UNIT_ATTENTION = 0x6;
    private static final long UNSENT = -1;

    private final int slot;
    private final ScsiCommandPdu command = new ScsiCommandPdu(Pdu.newHeader());
    private int generation;
    private DataMemory memory;
    private long memoryOffset;
    private int lengthBytes;
    private boolean writes;
    /** True if the command reads or writes logical blocks, or marks them as absent. */
    private boolean transfers;
    private Completion completion;
    private final AtomicReference<State> state = new AtomicReference<>(State.FREE);
    /** The CmdSN of the command; {@link #UNSENT} until the command is sent. */
    private final AtomicLong cmdSn = new AtomicLong(UNSENT);
    private int status;
    private ShardException failure;
    private int sense;
    /** The target's reason in words, or null. */
    private String words;

    IoRequest(int slot) {
        this.slot = slot;
    }

    static int slotOf(int initiatorTaskTag) {
        return initiatorTaskTag & (1 << SLOT_BITS) - 1;
    }

    /** Fills the request with a command that reads logical blocks into memory. */
    public IoRequest read(int lun, long lba, int blocks, DataMemory to, long offset, int bytes) {
        command.beginRead(bytes);
        return medium(ScsiCommand.READ_16.opcode(), lun, lba, blocks, to, offset, bytes, false);
    }

    /** Fills the request with a command that writes logical blocks from memory. */
    public IoRequest write(int lun, long lba, int blocks, DataMemory from, long offset, int bytes) {
        command.beginWrite(bytes);
        return medium(ScsiCommand.WRITE_16.opcode(), lun, lba, blocks, from, offset, bytes, true);
    }

    /**
     * Fills the request with the vendor-specific command PUSH, which pushes a gradient.
     *
     * @param type the type of the gradient, which determines the logical unit
     * @param round the round of the gradient; 0 for none
     * @param finite true if the caller has checked that the gradient contains no NaN and no infinity, so the shard need not check
     *     it again
     */
    public IoRequest push(
        ValueType type, long lba, int blocks, long round, DataMemory from, long offset, int bytes, boolean finite) {
        command.beginWrite(bytes);
        ofRound(RoundCdb.PUSH, type.lun(), lba, blocks, round, from, offset, bytes, true);
        if (finite) {
            command.cdb(RoundCdb.FLAGS_FIELD, RoundCdb.FINITE);
        }
        return this;
    }

    /**
     * Fills the request with the vendor-specific command {@link AbsentCommand ABSENT}, which reports that the learner has no
     * gradient for a range. The target returns {@link AbsentCommand#DATA_BYTES} bytes of data.
     *
     * @param nonFinite true if the learner withholds the gradient because of a NaN or an infinity; the shard then increments its
     *     counter of such gradients
     */
    public IoRequest absent(
        ValueType type, long lba, int blocks, long round, boolean nonFinite, DataMemory to, long offset) {
        command.beginRead(AbsentCommand.DATA_BYTES);
        ofRound(AbsentCommand.OPCODE, type.lun(), lba, blocks, round, to, offset, AbsentCommand.DATA_BYTES, false);
        if (nonFinite) {
            command.cdb(RoundCdb.FLAGS_FIELD, AbsentCommand.NON_FINITE);
        }
        return this;
    }

    /**
     * Fills the request with the vendor-specific command PULL, which pulls weights.
     *
     * @param round the round that the weights must include; 0 for none
     */
    public IoRequest pull(int lun, long lba, int blocks, long round, DataMemory to, long offset, int bytes) {
        command.beginRead(bytes);
        return ofRound(RoundCdb.PULL, lun, lba, blocks, round, to, offset, bytes, false);
    }

    private IoRequest ofRound(
        int opcode, int lun, long lba, int blocks, long round, DataMemory data, long offset, int bytes, boolean write) {
        prepare(lun, data, offset, bytes, write, true);
        command.cdb(0, opcode).cdbInt(RoundCdb.LBA_FIELD, (int) lba);
        command.cdbLong(RoundCdb.BLOCKS_FIELD, RoundCdb.blocksAndRound(blocks, round));
        return this;
    }

    private IoRequest medium(
        int opcode, int lun, long lba, int blocks, DataMemory data, long offset, int bytes, boolean write) {
        prepare(lun, data, offset, bytes, write, true);
        command.cdb(0, opcode).cdbLong(2, lba).cdbInt(10, blocks);
        return this;
    }

    /**
     * Fills the request with the command in {@code cdb}. The command returns at most {@code bytes} bytes of parameter data; 0
     * means no data.
     */
    public IoRequest control(int lun, byte[] cdb, DataMemory to, long offset, int bytes) {
        if (bytes == 0) {
            command.beginWithoutData();
        } else {
            command.beginRead(bytes);
        }
        prepare(lun, to, offset, bytes, false, false);
        for (int i = 0; i < cdb.length; i++) {
            command.cdb(i, cdb[i]);
        }
        return this;
    }

    private void prepare(int lun, DataMemory data, long offset, int bytes, boolean write, boolean transfer) {
        generation++;
        cmdSn.setRelease(UNSENT);
        memory = data;
        memoryOffset = offset;
        lengthBytes = bytes;
        writes = write;
        transfers = transfer;
        status = -1;
        failure = null;
        sense = 0;
        words = null;
        command.lunField(Pdu.encodeLun(lun));
        command.initiatorTaskTag(initiatorTaskTag());
    }

    /** Sets the listener that is called when the command has completed or failed. */
    public IoRequest onCompletion(Completion listener) {
        completion = listener;
        return this;
    }

    /** The number of this request in its session, from 0 to the queue depth minus 1. */
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
        return state.get() == State.IN_FLIGHT;
    }

    /**
     * Changes the state from {@code from} to {@code to}. Returns false if the state is not {@code from}, for example because
     * another thread has already completed or failed the command.
     */
    boolean move(State from, State to) {
        boolean legal = switch (from) {
            case FREE -> to == State.HELD;
            case HELD -> to == State.FREE || to == State.IN_FLIGHT;
            case IN_FLIGHT -> to == State.HELD || to == State.ENDED;
            case ENDED -> to == State.FREE;
        };
        if (!legal) {
            throw new IllegalStateException("a request cannot change from state " + from + " to state " + to);
        }
        return state.compareAndSet(from, to);
    }

    /** Stores the CmdSN with which the command is being sent. */
    void sent(int number) {
        cmdSn.setRelease(Integer.toUnsignedLong(number));
    }

    /**
     * Returns whether the command transfers logical blocks and was not accepted by a target whose ExpCmdSN is {@code expCmdSn}.
     * Any thread may call this method.
     */
    boolean isTransferFrom(int expCmdSn) {
        long number = cmdSn.getAcquire();
        return transfers && (number == UNSENT || (int) number - expCmdSn >= 0);
    }

    void ended(int scsiStatus, int senseKeyAscAscq, String reason) {
        status = scsiStatus;
        sense = senseKeyAscAscq;
        words = reason;
    }

    void failed(ShardException reason) {
        failure = reason;
    }

    /** Returns whether the command completed with status GOOD. */
    public boolean isGood() {
        return failure == null && status == 0;
    }

    /** Returns whether the response shows that the target has not executed the command. Such a command can be sent again. */
    public boolean isToBeRetried() {
        return failure == null && switch (status) {
            case ScsiStatus.BUSY, ScsiStatus.TASK_SET_FULL, ScsiStatus.TASK_ABORTED -> true;
            case ScsiStatus.CHECK_CONDITION -> sense >> 16 == UNIT_ATTENTION;
            default -> false;
        };
    }

    /**
     * Returns whether the command failed because another initiator reset the logical unit, either during the command or before
     * it. The caller must send such a command again without a pause, because another reset could occur during a pause.
     */
    public boolean wasReset() {
        return isToBeRetried() && (status == ScsiStatus.TASK_ABORTED || status == ScsiStatus.CHECK_CONDITION);
    }

    /** The SCSI status; -1 if the command has no response. */
    public int status() {
        return status;
    }

    /** The reason why the command has no response, such as a lost session or an abort; null if it has a response. */
    public ShardException failure() {
        return failure;
    }

    /** Returns the result of the command as text: its status and sense data, or the reason why it has no response. */
    public String describeEnd() {
        return failure == null ? ShardException.describe(status, sense, words) : failure.getMessage();
    }

    /** Returns the exception for a command that did not complete with status GOOD; see {@link ShardException#ofCommand}. */
    public ShardException exception(ShardId shard, String doing) {
        return failure == null ? ShardException.ofCommand(shard, doing, status, sense, words) : failure;
    }

    /** The sense key (from bit 16), additional sense code (from bit 8) and qualifier (from bit 0); 0 without sense data. */
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
