package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The initiator's end of one connection (RFC 5047 section 7). The initiator sends control PDUs and immediate data. The datamover
 * transfers the other data of reads and writes without a call to the iSCSI layer.
 *
 * <p>Only one thread calls {@link #receive}. This thread never waits for the threads that send. The other methods are
 * thread-safe.
 */
public interface InitiatorDatamover extends AutoCloseable {
    /** Handles received PDUs on the thread that calls {@link #receive}. */
    interface Listener {
        /** Returns the task with this tag, or null if the task has ended. */
        InitiatorTask task(int initiatorTaskTag);

        /**
         * Handles a PDU that was received completely. A Data-In PDU is passed only if it carries a status. {@code pdu} and
         * {@code data} are valid only during the call.
         */
        void controlNotify(Pdu pdu, ByteBuffer data) throws IOException;
    }

    /** Assigns sequence numbers to requests in the order in which the requests are sent. */
    interface Numbering {
        /** Sets CmdSN and ExpStatSN of a request. */
        void stamp(RequestPdu pdu);

        /** The StatSN that the initiator expects next. */
        int expStatSn();
    }

    /**
     * Sends the data that the target requests (R2T and Data-Out, RFC 7143 section 11.8). Only TCP needs this interface. Over
     * iSER and shared memory, the target moves the data.
     */
    @FunctionalInterface
    interface SolicitedData {
        /** Waits for requests and sends their data, until the connection is closed. Runs in one separate thread. */
        void serveRequests(Listener listener) throws IOException;
    }

    /** True if the session negotiates the login keys of iSER (RFC 7145). */
    default boolean isRdma() {
        return false;
    }

    /** Returns the initiator's login parameters, limited to the values that this datamover supports. */
    default OperationalParameters limited(OperationalParameters wishes) {
        return wishes;
    }

    /** Starts the full-feature phase with the negotiated parameters (Enable_Datamover of RFC 5047). */
    void enable(OperationalParameters parameters);

    /**
     * Prepares memory for data transfers. Must be called before the first command uses the memory.
     *
     * @throws IOException if the device cannot register the memory
     */
    default void prepare(DataMemory memory) throws IOException {}

    /**
     * Sends a command with its immediate data.
     *
     * @param more whether the caller will immediately send another command or call {@link #flush}. If true, the datamover may
     *     hold the command back until the next send or flush
     */
    void sendCommand(ScsiCommandPdu command, InitiatorTask task, boolean more) throws IOException;

    /** Sends the commands that are held back. */
    default void flush() throws IOException {}

    /** Sends a PDU. If {@code data} is not null, {@code data} is the PDU's data segment. */
    void sendControl(RequestPdu pdu, ByteBuffer data) throws IOException;

    /** Waits for the next PDU and passes it to the listener. */
    void receive(Listener listener) throws IOException;

    /** Returns the sender of requested data, which needs a separate thread; empty if the target moves all data. */
    default Optional<SolicitedData> solicitedData() {
        return Optional.empty();
    }

    /** Waits until the datamover has stopped sending data of ended tasks. */
    void awaitEndedTasks();

    /** The time when the datamover began to send the current PDU, or 0 if no PDU is being sent. A watchdog reads this time. */
    long sendingSinceNs();

    /** Closes the connection. Every call in progress fails with an exception. Any thread may call this method. */
    @Override
    void close();

    /** Releases all resources. May be called only after {@link #close}, when no thread is in {@link #receive}. */
    default void release() {}
}
