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
 * The target's end of one connection, below iSCSI: it moves control PDUs in both directions, and the data of tasks as the target
 * asks. The operations are those of the Datamover Architecture (RFC 5047 section 7); how a transfer looks on the wire (Data-In,
 * R2T and Data-Out over TCP, RDMA WRITE and READ over iSER) is hidden.
 *
 * <pre>
 *   login               {@link #receiveControl} → {@link ControlListener#controlNotify}
 *   {@link #enable}
 *   a control PDU       {@link #receive} → {@link ControlListener#controlNotify}
 *   a SCSI command      {@link #receive} → {@link Listener#commandNotify} → {@link ImmediateData#moveTo}
 *   the rest of a write {@link RemainingData#get} … {@link #receive} → {@link Listener#dataCompletionNotify}
 *   the data of a read  {@link #putData} … {@link #receive} → {@link Listener#putCompletionNotify}
 * </pre>
 *
 * <p>The {@code receive} methods are called by the connection's own thread alone; the others by any thread, one at a time for one
 * transfer.
 */
public interface TargetDatamover extends AutoCloseable {
    /** Is notified of control PDUs, by the thread that receives. */
    interface ControlListener {
        /** Control_Notify: a whole PDU has come. The views are valid for the call only. */
        void controlNotify(Pdu pdu, ByteBuffer data) throws IOException;
    }

    /** Is notified of all that comes in full-feature phase, by the thread that called {@link #receive}. */
    interface Listener extends ControlListener {
        /**
         * Control_Notify of a SCSI command, whose data segment has not been read yet. Both are valid for the call only.
         */
        void commandNotify(ScsiCommandPdu command, ImmediateData data) throws IOException;

        /** Data_Completion_Notify: all data of a transfer has come. */
        void dataCompletionNotify(DataTransfer transfer) throws IOException;

        /**
         * Data_Completion_Notify: the put that {@link TargetDatamover#putData} left under way has ended, and its memory is no
         * longer needed. Called before the PDU whose ExpStatSN acknowledges the status that was sent with the put.
         */
        void putCompletionNotify(DataTransfer transfer);

        /**
         * A PDU that is not a SCSI command cannot be used: it has to be rejected.
         *
         * @param reason a reason of {@link RejectPdu}
         */
        void discardNotify(Pdu pdu, int reason) throws IOException;

        /**
         * The data that was to come after a command is faulty: no more of it is taken, and the command has to end. Called when
         * all that was still to come has come.
         */
        void dataErrorNotify(DataTransfer transfer, DataError error) throws IOException;
    }

    /** Gives out the numbers that responses carry, in the order in which they are sent. */
    interface Numbering {
        /** Fills in StatSN, ExpCmdSN and MaxCmdSN; a PDU that carries a status moves StatSN on. */
        void stamp(ResponsePdu pdu, boolean carriesStatus);
    }

    /** Whether the session uses the extensions for RDMA (RFC 7145), which have their own keys. */
    default boolean isRdma() {
        return false;
    }

    /** The part of this side's offers that can be kept over this datamover. */
    default OperationalParameters limited(OperationalParameters offers) {
        return offers;
    }

    /** Enable_Datamover: full-feature phase begins, with what the login agreed on. */
    void enable(OperationalParameters parameters);

    /** Before {@link #enable}: waits for the next PDU, of whatever kind, and passes it to the listener. */
    void receiveControl(ControlListener listener) throws IOException;

    /** After {@link #enable}: waits for the next PDU or the end of a transfer, and notifies the listener. */
    void receive(Listener listener) throws IOException;

    /** Send_Control: sends a PDU, with {@code data} as its data segment if that is not null. */
    void sendControl(ResponsePdu pdu, ByteBuffer data, boolean carriesStatus) throws IOException;

    /** The header of the PDU that came last; for the thread that receives. */
    Pdu received();

    /** Ends the use of a transfer that is aborted or over: data that still comes for it is dropped. */
    void forget(DataTransfer transfer);

    /** The number of data PDUs that the target has sent for a task, R2Ts included: ExpDataSN of its response. */
    int dataPduCount(DataTransfer transfer);

    /**
     * Put_Data: sends a piece of a task's data, and with the last piece the good status of the command.
     *
     * @param dataOffset the offset of the piece in the task's data
     * @param residual how much more (positive) or less the command moves than the initiator expects; used with the last piece
     * @return whether the memory of all pieces so far is no longer needed. If not, it is needed until {@link #awaitPuts} or
     *     {@link #forget} has returned, and after the last piece until {@link Listener#putCompletionNotify}, which the receiving
     *     thread may call before this returns
     */
    boolean putData(
        DataTransfer transfer, int dataOffset, DataMemory memory, long memoryOffset, int bytes, boolean last,
        long residual)
        throws IOException;

    /** Waits until the puts that {@link #putData} has left under way for a transfer have ended; not after its last piece. */
    default void awaitPuts(DataTransfer transfer) throws IOException {}

    /** For a watchdog. */
    Liveness liveness();

    /** The address of the other side, for messages. */
    String peer();

    /** Connection_Terminate: ends every call in progress with an exception; any thread. */
    @Override
    void close();

    /** After {@link #close}, when no thread uses the datamover and no task its memory: gives back what it holds. */
    default void release() {}
}
