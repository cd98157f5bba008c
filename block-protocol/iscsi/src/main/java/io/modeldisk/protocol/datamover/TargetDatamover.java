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
 * The target's end of one connection, below iSCSI. A datamover moves control PDUs between initiator and target, and moves the
 * data of a task when the target requests the transfer. The operations are those of the Datamover Architecture (RFC 5047 section
 * 7). The datamover hides how data is transferred: by Data-In, R2T and Data-Out PDUs over TCP, and by RDMA WRITE and READ over
 * iSER.
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
 * <p>Only the connection's own thread calls the {@code receive} methods. Any thread may call the other methods, but only one
 * thread at a time for the same transfer.
 */
public interface TargetDatamover extends AutoCloseable {
    /** Handles control PDUs on the receiving thread. */
    interface ControlListener {
        /** Handles a complete PDU (Control_Notify of RFC 5047). The arguments are valid only during the call. */
        void controlNotify(Pdu pdu, ByteBuffer data) throws IOException;
    }

    /** Handles everything that is received in the full-feature phase, on the thread that calls {@link #receive}. */
    interface Listener extends ControlListener {
        /** Handles a SCSI command before its data is read (Control_Notify). The arguments are valid only during the call. */
        void commandNotify(ScsiCommandPdu command, ImmediateData data) throws IOException;

        /** Handles a transfer whose data was received completely (Data_Completion_Notify of RFC 5047). */
        void dataCompletionNotify(DataTransfer transfer) throws IOException;

        /**
         * Handles the completion of a put that was in progress when {@link TargetDatamover#putData} returned
         * (Data_Completion_Notify of RFC 5047). The datamover no longer needs the put's memory. If the put has sent a
         * status, the initiator acknowledges the status by the ExpStatSN of a later PDU. The datamover calls this method before
         * it notifies the listener of that PDU.
         */
        void putCompletionNotify(DataTransfer transfer);

        /**
         * Handles an invalid PDU that must be rejected. The PDU is not a SCSI command.
         *
         * @param reason a reason of {@link RejectPdu}
         */
        void discardNotify(Pdu pdu, int reason) throws IOException;

        /**
         * Handles a fault in the data that followed a command. The datamover calls this method after it has received all
         * requested data. The listener must complete the command with an error.
         */
        void dataErrorNotify(DataTransfer transfer, DataError error) throws IOException;
    }

    /** Assigns sequence numbers to responses in the order in which the responses are sent. */
    interface Numbering {
        /** Sets StatSN, ExpCmdSN and MaxCmdSN of a response. Increases StatSN if the response carries a status. */
        void stamp(ResponsePdu pdu, boolean carriesStatus);
    }

    /** True if the session negotiates the login keys of iSER (RFC 7145). */
    default boolean isRdma() {
        return false;
    }

    /** True if {@link RemainingData} can be fetched into memory that {@link TargetPortal#prepareOnDevice} has registered. */
    default boolean reachesDevices() {
        return false;
    }

    /** Returns the target's login parameters, limited to the values that this datamover supports. */
    default OperationalParameters limited(OperationalParameters offers) {
        return offers;
    }

    /** Starts the full-feature phase with the negotiated parameters (Enable_Datamover of RFC 5047). */
    void enable(OperationalParameters parameters);

    /** Waits for the next PDU of any kind and passes it to the listener. May be called only before {@link #enable}. */
    void receiveControl(ControlListener listener) throws IOException;

    /** Waits for the next PDU or completion of a transfer, and notifies the listener. Allowed only after {@link #enable}. */
    void receive(Listener listener) throws IOException;

    /** Sends a PDU (Send_Control of RFC 5047). If {@code data} is not null, {@code data} is the PDU's data segment. */
    void sendControl(ResponsePdu pdu, ByteBuffer data, boolean carriesStatus) throws IOException;

    /** The header of the PDU that was received last. Only the receiving thread may call this method. */
    Pdu received();

    /** Stops a transfer whose task was aborted or has completed. Data that is received for the transfer later is dropped. */
    void forget(DataTransfer transfer);

    /** The number of Data-In and R2T PDUs that were sent for a task. Its response carries this number as ExpDataSN. */
    default int dataPduCount(DataTransfer transfer) {
        return 0;
    }

    /**
     * Sends a piece of a task's data (Put_Data of RFC 5047). With the last piece, the datamover also sends the status GOOD of the
     * command.
     *
     * @param dataOffset the offset of the piece in the task's data
     * @param residual the length that the command transfers minus the length that the initiator expects, in bytes. Used only with
     *     the last piece
     * @return whether the caller may reuse the memory of this piece and of all earlier pieces of the transfer. If false, the
     *     memory must not change until {@link #awaitPuts} or {@link #forget} has returned. After the last piece, the memory must
     *     not change until {@link Listener#putCompletionNotify} is called, which can happen on the receiving thread before this
     *     method returns
     */
    boolean putData(
        DataTransfer transfer, int dataOffset, DataMemory memory, long memoryOffset, int bytes, boolean last,
        long residual)
        throws IOException;

    /** Waits until all puts in progress of a transfer have completed. Must not be called after the last piece was put. */
    default void awaitPuts(DataTransfer transfer) throws IOException {}

    /** Returns the times of the last activity, for a watchdog. */
    Liveness liveness();

    /** The name or address of the initiator, for messages. */
    String peer();

    /** Closes the connection (Connection_Terminate of RFC 5047). Calls in progress throw an exception. Thread-safe. */
    @Override
    void close();

    /** Releases all resources. Allowed only after {@link #close}, when no thread or task uses the datamover or its memory. */
    default void release() {}
}
