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
    /** The message for the response that follows the last WRITE of a read. */
    final IserMessage response;
    DataTransfer transfer;
    /** True if this transfer is a read whose last WRITE and response are posted, or are about to be posted. */
    boolean put;
    int putStatSn;
    long putSinceNs;
    /** The newest WRITE that is not the last WRITE of its read, or null if all such WRITEs have completed. */
    Work lastWrite;
    int lastWriteTurn;
    int writeStag;
    int readStag;
    /** The number of bytes of a write, from its start, that have arrived or that READs in flight will fetch. */
    int requestedBytes;
    private boolean awaited;
    private boolean writeAdvertised;
    private boolean readAdvertised;
    private long writeBaseOffset;
    private long readBaseOffset;
    private int unsolicitedBytes;
    private int taskTag;
    private volatile int advertisedKey;

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
     * Returns the memory key that the task with this tag advertised, and removes the key from this transfer. Returns 0 if the
     * task advertised no memory, or if this transfer belongs to another task. The caller must hold the lock for sending.
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
     * Returns the error of a command that has more immediate data than agreed, or advertises no memory for its other data.
     * Returns null if the command has neither error.
     */
    DataError check(ScsiCommandPdu command, OperationalParameters agreed) {
        if (unsolicitedBytes > (agreed.immediateData() ? agreed.firstBurstBytes() : 0)) {
            return DataError.UNEXPECTED_UNSOLICITED_DATA;
        }
        boolean readsNowhere = command.reads() && command.expectedDataTransferBytes() > 0 && !readAdvertised;
        boolean writesFromNowhere = transfer.lengthBytes() > unsolicitedBytes && !writeAdvertised;
        return readsNowhere || writesFromNowhere ? DataError.WRONG_MEMORY : null;
    }

    /** Records a WRITE that is not the last WRITE of its read. */
    void writing(Work write, int turn) {
        lastWrite = write;
        lastWriteTurn = turn;
    }

    /** Records that the last WRITE and the response are about to be posted. */
    void putBegins(int statSn, long nowNs) {
        put = true;
        putStatSn = statSn;
        putSinceNs = nowNs;
    }

    /** Returns the tagged offset of byte {@code position} of a write. The advertised memory begins after the immediate data. */
    long writeOffset(int position) {
        return writeBaseOffset + position - unsolicitedBytes;
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

    /** Returns whether the completion of a READ is awaited, and records that it is no longer awaited. */
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
