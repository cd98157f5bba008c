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

/** The least that uses an initiator's datamover: commands by tag, and a list of what has come. */
final class InitiatorSide implements InitiatorDatamover.Listener, InitiatorDatamover.Numbering {
    /** What has come: a response's opcode, tag, SCSI status and data. */
    record Arrived(int opcode, int tag, int status, byte[] data) {}

    record Task(int initiatorTaskTag, boolean writes, DataMemory memory, long memoryOffset, int lengthBytes)
        implements
            InitiatorTask {
        @Override
        public long lunField() {
            return 0;
        }
    }

    final BlockingQueue<Arrived> arrived = new LinkedBlockingQueue<>();
    /** What the receiving thread does when the next PDU comes. */
    volatile Runnable onNext;

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

    /** The task is over, though no response has come. */
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
        onNext = null;
        if (action != null) {
            action.run();
        }
        byte[] bytes = new byte[data == null ? 0 : data.remaining()];
        if (data != null) {
            data.get(bytes);
        }
        // SCSI Response and Data-In have the status at the same place.
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
