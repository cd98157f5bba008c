package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.DataTransfer;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.rdma.Work;
import java.nio.ByteBuffer;

/**
 * The iSER state of a transfer: the memory that the initiator advertised, and the work request for the data. For a write, the
 * work request READs the data. For a read, the work request WRITEs the data and sends the response.
 */
final class IserTransfer extends Work {
    private final IserMessage response;
    private boolean put;
    private int putStatSn;
    private long putSinceNs;
    private Work lastWrite;
    private int lastWriteTurn;
    private DataTransfer transfer;
    private boolean awaited;
    private boolean writeAdvertised;
    private boolean readAdvertised;
    private int writeStag;
    private long writeBaseOffset;
    private int readStag;
    private long readBaseOffset;
    private int unsolicitedBytes;
    private int requestedBytes;
    private int taskTag;
    private volatile int advertisedKey;

    /** @param response the message for the response that follows the last WRITE of a read */
    IserTransfer(IserMessage response) {
        super("moving a command's data by RDMA", true);
        this.response = response;
    }

    /**
     * Resets the state for a new task. {@code message} contains the command, the memory that the command advertises, and
     * {@code broughtBytes} bytes of immediate data.
     */
    void begin(DataTransfer begun, ByteBuffer message, int broughtBytes) {
        transfer = begun;
        put = false;
        lastWrite = null;
        awaited = false;
        writeAdvertised = IserHeader.advertisesWrite(message);
        writeStag = IserHeader.writeStag(message);
        writeBaseOffset = IserHeader.writeBaseOffset(message);
        readAdvertised = IserHeader.advertisesRead(message);
        readStag = IserHeader.readStag(message);
        readBaseOffset = IserHeader.readBaseOffset(message);
        unsolicitedBytes = broughtBytes;
        requestedBytes = 0;
        taskTag = begun.initiatorTaskTag();
        advertisedKey = readAdvertised ? readStag : writeAdvertised ? writeStag : 0;
    }

    /**
     * Returns the memory key that the task with this tag advertised, and removes the memory key. Returns 0 if the task advertised
     * no memory, or if this transfer belongs to another task. The caller holds the lock for sending.
     */
    int takeAdvertisedKey(int initiatorTaskTag) {
        int key = advertisedKey;
        if (key == 0 || taskTag != initiatorTaskTag) {
            return 0;
        }
        advertisedKey = 0;
        return key;
    }

    /**
     * Returns an error if a command has more immediate data than agreed, or advertises no memory for the remaining data.
     * Otherwise returns null.
     */
    DataError check(ScsiCommandPdu command, OperationalParameters agreed) {
        if (unsolicitedBytes > (agreed.immediateData() ? agreed.firstBurstBytes() : 0)) {
            return DataError.UNEXPECTED_UNSOLICITED_DATA;
        }
        boolean readsNowhere = command.reads() && command.expectedDataTransferBytes() > 0 && !readAdvertised;
        boolean writesFromNowhere = transfer.lengthBytes() > unsolicitedBytes && !writeAdvertised;
        return readsNowhere || writesFromNowhere ? DataError.WRONG_MEMORY : null;
    }

    DataTransfer transfer() {
        return transfer;
    }

    IserMessage response() {
        return response;
    }

    /** Records a WRITE that is not the last WRITE of its read. */
    void writing(Work write, int turn) {
        lastWrite = write;
        lastWriteTurn = turn;
    }

    /** Returns the newest WRITE that is not the last WRITE of its read, or null if all such WRITEs have completed. */
    Work lastWrite() {
        return lastWrite;
    }

    int lastWriteTurn() {
        return lastWriteTurn;
    }

    void writesEnded() {
        lastWrite = null;
    }

    /** Records that the last WRITE and the response are about to be sent. */
    void putBegins(int statSn, long nowNs) {
        put = true;
        putStatSn = statSn;
        putSinceNs = nowNs;
    }

    /** Returns whether {@link #putBegins} was called: this transfer is a read, and its last WRITE and its response are sent. */
    boolean isPut() {
        return put;
    }

    int putStatSn() {
        return putStatSn;
    }

    long putSinceNs() {
        return putSinceNs;
    }

    int writeStag() {
        return writeStag;
    }

    /** Returns the tagged offset of byte {@code position} of a write. The advertised memory begins after the immediate data. */
    long writeOffset(int position) {
        return writeBaseOffset + position - unsolicitedBytes;
    }

    int readStag() {
        return readStag;
    }

    /** Returns the tagged offset of byte {@code position} of a read. */
    long readOffset(int position) {
        return readBaseOffset + position;
    }

    /** Records that a READ is in flight for the data before byte {@code end}. */
    void requested(int end) {
        requestedBytes = end;
        awaited = true;
    }

    int requestedBytes() {
        return requestedBytes;
    }

    /** Returns whether the completion of a READ is awaited. Returns true only once for each READ. */
    boolean takeAwaited() {
        boolean result = awaited;
        awaited = false;
        return result;
    }

    /** Forgets the memory key that the command advertised, and records that no READ is awaited. */
    void forget() {
        advertisedKey = 0;
        awaited = false;
    }
}
