package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.RejectPdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The target's end of one connection, under iSCSI: it moves control PDUs both ways and data one way or the other, as the target
 * asks. The operations are those of the Datamover Architecture (RFC 5047 section 7); how a transfer looks on the wire (Data-In,
 * R2T and Data-Out over TCP, RDMA WRITE and READ over iSER) is hidden below.
 *
 * <p>{@link #receive} is called by the connection's own thread alone; the others by any thread, one at a time for one transfer.
 */
public interface TargetDatamover extends AutoCloseable {
    /** Hears what has come. All calls are made by the thread that called {@link #receive}. */
    interface Listener {
        /**
         * A SCSI command has come that may have data with it: where shall that go?
         *
         * @return the task's transfer, begun, or null if the data is to be dropped
         */
        DataTransfer placeImmediateData(ScsiCommandPdu command) throws IOException;

        /** Control_Notify: a PDU has come, whole. The views are valid for the call only. */
        void controlNotify(Pdu pdu, ByteBuffer data) throws IOException;

        /** Data_Completion_Notify: all data of a transfer has come. */
        void dataCompletionNotify(DataTransfer transfer) throws IOException;

        /**
         * Data_Completion_Notify: what {@link TargetDatamover#putData} left under way is over, and its memory no longer needed.
         * Before a PDU whose ExpStatSN acknowledges the status that went with it.
         */
        void putCompletionNotify(DataTransfer transfer);

        /**
         * A PDU cannot be used and is discarded, and the initiator must hear of it. Of a command, {@link #placeImmediateData}
         * was called before.
         *
         * @param reason a reason of {@link RejectPdu}
         */
        void discardNotify(Pdu pdu, int reason) throws IOException;

        /**
         * The data of a transfer is not as it must be: no more of it is taken, and the command has to end. Called when all that
         * was still to come has come; before {@link #controlNotify} if the data of the command itself is at fault.
         */
        void dataErrorNotify(DataTransfer transfer, DataError error) throws IOException;
    }

    /** Gives out the numbers that responses carry, in the order in which they are sent. */
    interface Numbering {
        /** Fills in StatSN, ExpCmdSN and MaxCmdSN; a PDU that carries a status moves StatSN on. */
        void stamp(ResponsePdu pdu, boolean carriesStatus);
    }

    /** Whether the session has the extensions for RDMA (RFC 7145), with keys of their own. */
    default boolean isRdma() {
        return false;
    }

    /** What of this side's wishes can be kept over this datamover. */
    default OperationalParameters limited(OperationalParameters wishes) {
        return wishes;
    }

    /** Enable_Datamover: full-feature phase begins with what the login agreed on. */
    void enable(OperationalParameters parameters);

    /** Waits for what comes next and tells the listener. */
    void receive(Listener listener) throws IOException;

    /** Send_Control: sends a PDU, with {@code data} as its data segment if that is not null. */
    void sendControl(ResponsePdu pdu, ByteBuffer data, boolean carriesStatus) throws IOException;

    /**
     * The command announced data that comes unasked, up to the first burst.
     *
     * @param wanted whether it is taken; if not, the listener hears {@link DataError#UNWANTED} when the last of it has come
     */
    void expectUnsolicitedData(DataTransfer transfer, boolean wanted);

    /** The header of the PDU that came last; for the thread that calls {@link #receive}. */
    Pdu received();

    /** Get_Data: fetches the first {@code bytes} of a transfer's data, but for what came with the command or unasked. */
    void getData(DataTransfer transfer, int bytes) throws IOException;

    /** Lets go of a transfer that is aborted: what still comes for it is dropped. */
    void forget(DataTransfer transfer);

    /** How many data PDUs of either direction the target has sent for a task: ExpDataSN of its response. */
    int dataPduCount(DataTransfer transfer);

    /**
     * Put_Data: sends a piece of a task's data, and with the last piece the good status of the command.
     *
     * @param dataOffset where in the task's data the piece belongs
     * @param residual how much more (positive) or less the command moves than the initiator expects; used with the last piece
     * @return whether the memory of all pieces so far is no longer needed; if not, it is until {@link #awaitPuts} or
     *     {@link #forget} has returned, and after the last piece until {@link Listener#putCompletionNotify}, which another
     *     thread may call before this returns
     */
    boolean putData(
        DataTransfer transfer, int dataOffset, DataMemory memory, long memoryOffset, int bytes, boolean last,
        long residual)
        throws IOException;

    /** Waits until what {@link #putData} has left under way for a transfer is over; not after its last piece. */
    default void awaitPuts(DataTransfer transfer) throws IOException {}

    /** When the PDU that is being received began, as {@link System#nanoTime()}; 0 between PDUs. For a watchdog. */
    long receivingSinceNanos();

    /** When something last came, as {@link System#nanoTime()}. For a watchdog. */
    long lastReceivedNanos();

    /** When the PDU that is being sent began, as {@link System#nanoTime()}; 0 if none is. For a watchdog. */
    long sendingSinceNanos();

    /** The address of the other side, for messages. */
    String peer();

    /** Connection_Terminate: ends every call in progress with an exception; any thread. */
    @Override
    void close();

    /** After {@link #close}, when no thread uses it any more and no task has memory of it: gives back what it holds. */
    default void release() {}
}
