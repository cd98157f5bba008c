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
 * The initiator's end of one connection (RFC 5047 section 7). It sends control PDUs with their immediate data; the data that the
 * target puts or gets moves without a call to the iSCSI layer.
 *
 * <p>{@link #receive} is for one thread, which never waits for the sending threads; the other methods are thread-safe.
 */
public interface InitiatorDatamover extends AutoCloseable {
    /** Handles received PDUs; called by the thread that called {@link #receive}. */
    interface Listener {
        /** The task with this tag; null if it has ended. */
        InitiatorTask task(int initiatorTaskTag);

        /** A PDU has arrived in full; Data-In only if it carries a status. The views are valid during the call. */
        void controlNotify(Pdu pdu, ByteBuffer data) throws IOException;
    }

    /** Numbers the requests in the order in which they are sent. */
    interface Numbering {
        /** Fills in CmdSN and ExpStatSN. */
        void stamp(RequestPdu pdu);

        /** The next expected StatSN. */
        int expStatSn();
    }

    /** Whether the session negotiates the keys of RFC 7145. */
    default boolean isRdma() {
        return false;
    }

    /** This side's offers, limited to the values that this datamover supports. */
    default OperationalParameters limited(OperationalParameters wishes) {
        return wishes;
    }

    /** Enable_Datamover: the full-feature phase begins with the negotiated parameters. */
    void enable(OperationalParameters parameters);

    /**
     * Prepares memory for data transfers before the first command uses it.
     *
     * @throws IOException if the device does not accept it
     */
    default void prepare(DataMemory memory) throws IOException {}

    /**
     * Sends a command with its immediate data.
     *
     * @param more whether the caller sends more commands at once or calls {@link #flush}, before it waits for anything: then the
     *     command may be kept back until then, or until anything else is sent
     */
    void sendCommand(ScsiCommandPdu command, InitiatorTask task, boolean more) throws IOException;

    /** Sends the commands that were kept back. */
    default void flush() throws IOException {}

    /** Sends a PDU, with {@code data} as its data segment if that is not null. */
    void sendControl(RequestPdu pdu, ByteBuffer data) throws IOException;

    /** Waits for the next PDU and passes it to the listener. */
    void receive(Listener listener) throws IOException;

    /** The part that sends data which the target requests, for a thread of its own; empty if the target moves all data. */
    default Optional<SolicitedData> solicitedData() {
        return Optional.empty();
    }

    /** Waits until no data is being sent for tasks that {@link Listener#task} no longer knows. */
    void awaitEndedTasks();

    /** When the PDU that is being sent began; the same number as long as it is being sent; 0 if none is. For a watchdog. */
    long sendingSinceNanos();

    /** Ends every call in progress with an exception; any thread. */
    @Override
    void close();

    /** Releases all resources; after {@link #close}, when no thread receives any more. */
    default void release() {}
}
