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
 * The initiator's end of one connection (RFC 5047 section 7): sends control PDUs, with the data that may go along; what the
 * target puts or gets is moved without the iSCSI layer hearing of it.
 *
 * <p>{@link #receive} is for one thread, which never waits for the sending ones; the others are thread-safe.
 */
public interface InitiatorDatamover extends AutoCloseable {
    /** Hears what has come; called by the thread that called {@link #receive}. */
    interface Listener {
        /** The task with this tag, or null if it is over. */
        InitiatorTask task(int initiatorTaskTag);

        /** A PDU has come, whole; Data-In only if it carries a status. The views are valid for the call only. */
        void controlNotify(Pdu pdu, ByteBuffer data) throws IOException;
    }

    /** Gives out the numbers that requests carry, in the order in which they are sent. */
    interface Numbering {
        /** Fills in CmdSN and ExpStatSN. */
        void stamp(RequestPdu pdu);

        /** Up to which status number, exclusive, everything has come. */
        int expStatSn();
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

    /**
     * Makes memory known that commands will move data from and to, so that none of them has to.
     *
     * @throws IOException if the device does not take it, in words
     */
    default void prepare(DataMemory memory) throws IOException {}

    /**
     * Sends a command with as much of its data as may go at once.
     *
     * @param more whether the caller sends more at once or calls {@link #flush}, before it waits for anything: then the command
     *     may be kept back until that, or until anything else is sent
     */
    void sendCommand(ScsiCommandPdu command, InitiatorTask task, boolean more) throws IOException;

    /** Sends what was kept back. */
    default void flush() throws IOException {}

    /** Sends a PDU, with {@code data} as its data segment if that is not null. */
    void sendControl(RequestPdu pdu, ByteBuffer data) throws IOException;

    /** Waits for what comes next and tells the listener. */
    void receive(Listener listener) throws IOException;

    /** The part that sends data which the target requests, for a thread of its own; empty if the target moves all data. */
    default Optional<SolicitedData> solicitedData() {
        return Optional.empty();
    }

    /** Waits until nothing is being sent for a task that {@link Listener#task} does not know any more. */
    void awaitEndedTasks();

    /** When the PDU that is being sent began; the same number as long as it is being sent; 0 if none is. For a watchdog. */
    long sendingSinceNanos();

    /** Ends every call in progress with an exception; any thread. */
    @Override
    void close();

    /** After {@link #close}, when no thread receives any more: gives back what it holds. */
    default void release() {}
}
