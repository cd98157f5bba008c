package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.datamover.InitiatorTask;
import io.modeldisk.protocol.datamover.WrappedPortal;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.rdma.QueuePair;
import io.modeldisk.protocol.rdma.RegisteredMemory;
import java.io.IOException;
import java.nio.ByteBuffer;

/** An initiator that advertises wrong memory to the target for commands of more than one logical block. */
record LyingInitiator(
    IserInitiatorDatamover honest, InitiatorDatamover.Numbering numbering, Lie lie, DataMemory instead, int foreignTag)
    implements
        InitiatorDatamover {
    /** The kind of wrong memory that the initiator advertises. */
    enum Lie {
        /** A steering tag that no device issued. */
        UNKNOWN_TAG,
        /** Memory that is shorter than the data of the command. */
        TOO_SHORT,
        /** Memory that another session of the same process has registered with the device. */
        OF_ANOTHER_SESSION,
        /** The correct steering tag with an offset outside the memory. */
        WRONG_OFFSET
    }

    /**
     * Returns a portal whose connections advertise wrong memory for commands of more than one logical block.
     *
     * @param instead one logical block of memory, which the connections advertise for {@link Lie#TOO_SHORT}
     * @param foreignTag the steering tag of the memory of another session
     */
    static InitiatorPortal portal(InitiatorPortal way, Lie lie, DataMemory instead, int foreignTag) {
        return new WrappedPortal(way, (connection, numbering) -> new LyingInitiator(
            (IserInitiatorDatamover) connection, numbering, lie, instead, foreignTag));
    }

    @Override
    public void sendCommand(ScsiCommandPdu command, InitiatorTask task, boolean more) throws IOException {
        if (task.lengthBytes() <= instead.bytes()) {
            honest.sendCommand(command, task, more);
            return;
        }
        IserChannel channel = honest.channel;
        try (QueuePair.Use _ = honest.queue.enter(); Held _ = channel.lock()) {
            RegisteredMemory right = channel.registered(task.memory());
            RegisteredMemory small = channel.registered(instead);
            int tag = switch (lie) {
                case UNKNOWN_TAG -> 0x7AB00B1E;
                case TOO_SHORT -> small.remoteKey(0);
                case OF_ANOTHER_SESSION -> foreignTag;
                case WRONG_OFFSET -> right.remoteKey(task.memoryOffset());
            };
            long offset = lie == Lie.WRONG_OFFSET || lie == Lie.TOO_SHORT
                ? small.address(0)
                : right.address(task.memoryOffset());
            IserMessage message = channel.nextMessage();
            if (task.writes()) {
                IserHeader.advertiseWrite(message.whole(), tag, offset);
            } else {
                IserHeader.advertiseRead(message.whole(), tag, offset);
            }
            command.dataSegmentBytes(0);
            numbering.stamp(command);
            channel.send(message, message.fill(command, null), false);
        }
    }

    @Override
    public boolean isRdma() {
        return honest.isRdma();
    }

    @Override
    public OperationalParameters limited(OperationalParameters wishes) {
        return honest.limited(wishes);
    }

    @Override
    public void enable(OperationalParameters parameters) {
        honest.enable(parameters);
    }

    @Override
    public void sendControl(RequestPdu pdu, ByteBuffer data) throws IOException {
        honest.sendControl(pdu, data);
    }

    @Override
    public void receive(Listener listener) throws IOException {
        honest.receive(listener);
    }

    @Override
    public void awaitEndedTasks() {
        honest.awaitEndedTasks();
    }

    @Override
    public long sendingSinceNs() {
        return honest.sendingSinceNs();
    }

    @Override
    public void close() {
        honest.close();
    }

    @Override
    public void release() {
        honest.release();
    }
}
