package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.NopInPdu;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.pdu.ScsiResponsePdu;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A minimal target for the tests of datamovers. The target stores the data of each write under the command's tag. A read returns
 * the bytes of {@link #source} from offset {@code tag * 4096} on. The response to a ping contains the ping's data.
 */
public final class TargetSide implements TargetDatamover.Listener, TargetDatamover.Numbering, AutoCloseable {
    static final int SLOTS = 8;
    static final int PIECE_BYTES = 256 << 10;
    static final int MAX_PIECES = 32;
    static final int SOURCE_BYTES = 9 << 20;

    /** The data that reads return. */
    final DataMemory source = DataMemory.allocate(SOURCE_BYTES);
    public final Map<Integer, byte[]> written = new ConcurrentHashMap<>();
    public final Map<Integer, DataError> failed = new ConcurrentHashMap<>();
    /** True if the target delays its requests for the data of writes. */
    volatile boolean holding;

    /**
     * True if the target sends the data of a read alternately from two buffers, and refills each buffer after its put has
     * completed.
     */
    volatile boolean refilling;

    /** The action that the receiving thread runs before it responds to the next ping. */
    volatile Action onNextPing = () -> {};

    /** An action that can fail with an {@link IOException}. */
    interface Action {
        void run() throws IOException;
    }

    private static final int PLACES = 2;

    private final DataMemory places = DataMemory.allocate((long) PLACES * PIECE_BYTES);
    private final DataMemory pieces = DataMemory.allocate((long) SLOTS * MAX_PIECES * PIECE_BYTES);
    private final Deque<DataTransfer> free = new ArrayDeque<>();
    private final Deque<DataTransfer> held = new ArrayDeque<>();
    private final NopInPdu nopIn = new NopInPdu(Pdu.newHeader());
    private final ScsiResponsePdu response = new ScsiResponsePdu(Pdu.newHeader());
    private TargetDatamover datamover;
    private final Map<DataTransfer, RemainingData> remaining = new ConcurrentHashMap<>();
    private int statSn = 1;

    /** Allocates the memory of the target. */
    public TargetSide() {
        for (int slot = 0; slot < SLOTS; slot++) {
            DataTransfer transfer = new DataTransfer(slot, pieces, PIECE_BYTES, MAX_PIECES);
            for (int i = 0; i < MAX_PIECES; i++) {
                // The order is reversed, so consecutive pieces are not adjacent in memory.
                transfer.pieces().piece(i, (long) (slot * MAX_PIECES + MAX_PIECES - 1 - i) * PIECE_BYTES);
            }
            free.add(transfer);
        }
    }

    /** Sets the datamover that the target uses. */
    public void datamover(TargetDatamover used) {
        datamover = used;
    }

    @Override
    public void commandNotify(ScsiCommandPdu command, ImmediateData data) throws IOException {
        DataTransfer transfer = free.remove();
        int length = command.writes() ? (int) command.expectedDataTransferBytes() : 0;
        transfer.begin(command.initiatorTaskTag(), command.lunField(), length);
        switch (data.moveTo(transfer, true)) {
            case DataError error -> dataErrorNotify(transfer, error);
            case RemainingData rest -> {
                remaining.put(transfer, rest);
                if (holding) {
                    held.add(transfer);
                } else {
                    rest.get(transfer, transfer.lengthBytes());
                }
            }
            case DataArrival.Complete _ -> start(transfer, command);
        }
    }

    private void start(DataTransfer transfer, ScsiCommandPdu command) throws IOException {
        if (command.reads()) {
            answer(transfer, (int) command.expectedDataTransferBytes());
        } else if (holding) {
            held.add(transfer);
        } else {
            dataCompletionNotify(transfer);
        }
    }

    @Override
    public void controlNotify(Pdu pdu, ByteBuffer data) throws IOException {
        if (pdu.opcode() == Opcode.NOP_OUT) {
            Action action = onNextPing;
            onNextPing = () -> {};
            action.run();
            nopIn.begin(pdu.initiatorTaskTag(), Pdu.RESERVED_TAG, 0);
            datamover.sendControl(nopIn, data, true);
        }
    }

    private void answer(DataTransfer transfer, int bytes) throws IOException {
        long from = transfer.initiatorTaskTag() * 4096L;
        boolean over = true;
        for (int done = 0; done < bytes;) {
            int part = Math.min(PIECE_BYTES, bytes - done);
            boolean last = done + part == bytes;
            if (refilling) {
                int place = done / PIECE_BYTES % PLACES;
                if (place == 0 && !over) {
                    datamover.awaitPuts(transfer);
                }
                MemorySegment.copy(source.slab(0), from + done, places.slab(0), (long) place * PIECE_BYTES, part);
                over = datamover.putData(transfer, done, places, (long) place * PIECE_BYTES, part, last, 0);
            } else {
                over = datamover.putData(transfer, done, source, from + done, part, last, 0);
            }
            done += part;
        }
        if (over) {
            free.add(transfer);
        }
    }

    @Override
    public void putCompletionNotify(DataTransfer transfer) {
        datamover.forget(transfer);
        free.add(transfer);
    }

    @Override
    public void dataCompletionNotify(DataTransfer transfer) throws IOException {
        byte[] data = new byte[transfer.lengthBytes()];
        for (int i = 0; i < transfer.piecesFor(data.length); i++) {
            int start = i * transfer.place().pieceBytes();
            int part = Math.min(transfer.place().pieceBytes(), data.length - start);
            MemorySegment piece = transfer.memory().segment(transfer.place().piece(i), part);
            MemorySegment.copy(piece, ValueLayout.JAVA_BYTE, 0, data, start, part);
        }
        written.put(transfer.initiatorTaskTag(), data);
        end(transfer, 0);
    }

    private void end(DataTransfer transfer, int status) throws IOException {
        datamover.forget(transfer);
        response.begin(transfer.initiatorTaskTag(), status, datamover.dataPduCount(transfer));
        datamover.sendControl(response, null, true);
        free.add(transfer);
    }

    @Override
    public void dataErrorNotify(DataTransfer transfer, DataError error) throws IOException {
        failed.put(transfer.initiatorTaskTag(), error);
        end(transfer, 2);
    }

    @Override
    public void discardNotify(Pdu pdu, int reason) {
        throw new IllegalStateException("the datamover discarded a PDU, but the tests send no invalid PDUs");
    }

    /** Sends the data requests that were delayed, and aborts the writes to which the requests belong. */
    void abortHeld() throws IOException {
        for (DataTransfer transfer : held) {
            if (!transfer.isComplete()) {
                remaining.get(transfer).get(transfer, transfer.lengthBytes());
            }
            datamover.forget(transfer);
            free.add(transfer);
        }
        held.clear();
    }

    @Override
    public void stamp(ResponsePdu pdu, boolean carriesStatus) {
        pdu.numbers(carriesStatus ? statSn++ : statSn, 1, Integer.MAX_VALUE);
    }

    @Override
    public String toString() {
        return "written=" + written.keySet() + " failed=" + failed + " free=" + free.size();
    }

    @Override
    public void close() {
        source.close();
        places.close();
        pieces.close();
    }
}
