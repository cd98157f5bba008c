package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.DataTransfer;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.rdma.Work;
import java.nio.ByteBuffer;

/**
 * The iSER state of a transfer: the memory that the initiator advertised, and the request that READs it, or WRITEs it and sends
 * the response.
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

    /**
     * @param response of this transfer alone: the message that follows the last WRITE of a read
     */
    IserTransfer(IserMessage response) {
        super("moving a command's data by RDMA", true);
        this.response = response;
    }

    /** Begins a task, with the memory that its command advertises and the length of its immediate data. */
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
     * Takes a key that the task with this tag advertised, once; 0 if it advertised none, or has another transfer. For the thread
     * that holds the lock for sending.
     */
    int takeAdvertisedKey(int initiatorTaskTag) {
        int key = advertisedKey;
        if (key == 0 || taskTag != initiatorTaskTag) {
            return 0;
        }
        advertisedKey = 0;
        return key;
    }

    /** The error of the command's data: more than agreed, or no memory for the rest of it; null if there is none. */
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

    /** Notes a WRITE that is not the last. */
    void writing(Work write, int turn) {
        lastWrite = write;
        lastWriteTurn = turn;
    }

    /** The newest WRITE that is not the last of its read; null if all of them have ended. */
    Work lastWrite() {
        return lastWrite;
    }

    int lastWriteTurn() {
        return lastWriteTurn;
    }

    void writesEnded() {
        lastWrite = null;
    }

    /** Begins to send its last WRITE and the response. */
    void putBegins(int statSn, long nowNs) {
        put = true;
        putStatSn = statSn;
        putSinceNs = nowNs;
    }

    /** Whether it is a put: it ends with its response. */
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

    /** The tagged offset of byte {@code position} of a write: the advertised memory begins behind the immediate data. */
    long writeOffset(int position) {
        return writeBaseOffset + position - unsolicitedBytes;
    }

    int readStag() {
        return readStag;
    }

    /** The tagged offset of byte {@code position} of a read. */
    long readOffset(int position) {
        return readBaseOffset + position;
    }

    /** Notes a READ up to this byte, whose end is awaited. */
    void requested(int end) {
        requestedBytes = end;
        awaited = true;
    }

    int requestedBytes() {
        return requestedBytes;
    }

    /** Whether the end of a READ is awaited; true once for each. */
    boolean takeAwaited() {
        boolean result = awaited;
        awaited = false;
        return result;
    }

    /** The data is not awaited any more. */
    void forget() {
        advertisedKey = 0;
        awaited = false;
    }
}
