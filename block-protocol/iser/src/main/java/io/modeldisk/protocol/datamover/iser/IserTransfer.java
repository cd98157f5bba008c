package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.DataTransfer;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.rdma.Work;
import java.nio.ByteBuffer;

/**
 * What iSER needs to know of a transfer: the memory that the initiator advertised, and the request that READs from it, or the
 * WRITE to it with the response behind.
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
     * @param response where the response is made that goes behind a read's last WRITE; this transfer's own
     */
    IserTransfer(IserMessage response) {
        super("moving a command's data by RDMA", true);
        this.response = response;
    }

    /** Starts over for a task, with what its command's message advertises and how much data it brings. */
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
     * Takes a key that the task with this tag advertised, once; 0 if it advertised none, or this is not its transfer. For the
     * thread that may send.
     */
    int takeAdvertisedKey(int initiatorTaskTag) {
        int key = advertisedKey;
        if (key == 0 || taskTag != initiatorTaskTag) {
            return 0;
        }
        advertisedKey = 0;
        return key;
    }

    /** What is wrong with the command's data, or null: more than agreed on, or no memory for the rest of it. */
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

    /** A WRITE that is not the last goes out. */
    void writing(Work write, int turn) {
        lastWrite = write;
        lastWriteTurn = turn;
    }

    /** The WRITE that went out last of those that were not the last; null if none is under way, or all are known to be over. */
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

    /** The tagged offset of the write's byte {@code position}: what is advertised starts behind what came with the command. */
    long writeOffset(int position) {
        return writeBaseOffset + position - unsolicitedBytes;
    }

    int readStag() {
        return readStag;
    }

    /** The tagged offset of the read's byte {@code position}. */
    long readOffset(int position) {
        return readBaseOffset + position;
    }

    /** A READ up to this byte is under way, and its end is of interest. */
    void requested(int end) {
        requestedBytes = end;
        awaited = true;
    }

    int requestedBytes() {
        return requestedBytes;
    }

    /** Whether a READ's end is still of interest; answers so once for each. */
    boolean takeAwaited() {
        boolean result = awaited;
        awaited = false;
        return result;
    }

    /** Nobody waits for the data any more. */
    void forget() {
        advertisedKey = 0;
        awaited = false;
    }
}
