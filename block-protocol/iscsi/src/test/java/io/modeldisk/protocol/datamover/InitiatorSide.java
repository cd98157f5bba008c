package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;

/** A minimal initiator for the tests of datamovers. The initiator sends commands and keeps a list of the received PDUs. */
public final class InitiatorSide implements InitiatorDatamover.Listener, InitiatorDatamover.Numbering {
    /** A received PDU: the opcode, the tag, the SCSI status and the data. */
    record Arrived(int opcode, int tag, int status, byte[] data) {}

    /** A task whose data is at {@code memoryOffset} in {@code memory}. */
    public record Task(int initiatorTaskTag, boolean writes, DataMemory memory, long memoryOffset, int lengthBytes)
        implements
            InitiatorTask {
        @Override
        public long lunField() {
            return 0;
        }
    }

    final BlockingQueue<Arrived> arrived = new LinkedBlockingQueue<>();
    /** The action that the receiving thread runs when the next PDU arrives. */
    volatile Runnable onNext = () -> {};

    private final Map<Integer, Task> tasks = new ConcurrentHashMap<>();
    private int cmdSn = 1;
    private volatile int expStatSn;

    void read(InitiatorDatamover datamover, int tag, DataMemory to, long offset, int bytes) throws IOException {
        start(datamover, new ScsiCommandPdu(Pdu.newHeader()).beginRead(bytes), new Task(tag, false, to, offset, bytes));
    }

    void write(InitiatorDatamover datamover, int tag, DataMemory from, long offset, int bytes) throws IOException {
        start(datamover, new ScsiCommandPdu(Pdu.newHeader()).beginWrite(bytes),
            new Task(tag, true, from, offset, bytes));
    }

    private void start(InitiatorDatamover datamover, ScsiCommandPdu command, Task task) throws IOException {
        command.initiatorTaskTag(task.initiatorTaskTag());
        tasks.put(task.initiatorTaskTag(), task);
        datamover.sendCommand(command, task, false);
    }

    /** Removes a task that was aborted without a response. */
    void forget(int tag) {
        tasks.remove(tag);
    }

    @Override
    public InitiatorTask task(int initiatorTaskTag) {
        return tasks.get(initiatorTaskTag);
    }

    @Override
    public void controlNotify(Pdu pdu, ByteBuffer data) {
        Runnable action = onNext;
        onNext = () -> {};
        action.run();
        byte[] bytes = new byte[data == null ? 0 : data.remaining()];
        if (data != null) {
            data.get(bytes);
        }
        // SCSI Response and Data-In have the status at the same offset.
        boolean status = pdu.opcode() == Opcode.SCSI_RESPONSE || pdu.opcode() == Opcode.DATA_IN;
        if (pdu.opcode() != Opcode.DATA_IN || (pdu.header().get(1) & 1) != 0) {
            expStatSn = pdu.header().getInt(24) + 1;
        }
        tasks.remove(pdu.initiatorTaskTag());
        arrived.add(new Arrived(pdu.opcode(), pdu.initiatorTaskTag(), status ? pdu.header().get(3) : -1, bytes));
    }

    @Override
    public void stamp(RequestPdu pdu) {
        pdu.numbers(cmdSn++, expStatSn);
    }

    @Override
    public int expStatSn() {
        return expStatSn;
    }
}
