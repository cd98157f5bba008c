package io.modeldisk.protocol.datamover.iser;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.SVCPostSend;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorTask;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.rdma.MemoryRights;
import io.modeldisk.protocol.rdma.QueuePair;
import io.modeldisk.protocol.rdma.RegisteredMemory;
import io.modeldisk.protocol.rdma.WorkRequests;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The datamover of an initiator over iSER (RFC 7145). The initiator advertises the memory of a command, and the target moves the
 * data. The data of a short write is sent together with the command. The target fetches all the data of a longer write.
 */
public final class IserInitiatorDatamover extends IserDatamover implements InitiatorDatamover {
    /** The rights to the data of commands. The target needs remote rights, because it moves the data by RDMA READ and WRITE. */
    static final MemoryRights DATA_RIGHTS = MemoryRights.REMOTE;

    private final Numbering numbering;
    private final SVCPostSend sendWithData;

    /** Creates a datamover that owns the queue pair, and posts the receives. The queue pair is not connected yet. */
    IserInitiatorDatamover(QueuePair queue, Numbering numbering, int queueDepth) throws IOException {
        super(queue, queueDepth, 0, DATA_RIGHTS);
        this.numbering = numbering;
        try {
            this.sendWithData = queue.prepare(
                WorkRequests.send(IbvSendWR.IBV_WR_SEND, IbvSendWR.IBV_SEND_SIGNALED, 2));
        } catch (IOException e) {
            queue.close();
            throw e;
        }
    }

    static int sendRequests() {
        return IserChannel.sendRequests(0);
    }

    @Override
    public void prepare(DataMemory memory) throws IOException {
        try (QueuePair.Use _ = queue.enter()) {
            channel.registered(memory);
        }
    }

    @Override
    public void sendCommand(ScsiCommandPdu command, InitiatorTask task, boolean more) throws IOException {
        try (QueuePair.Use _ = queue.enter(); Held _ = channel.lock()) {
            int length = task.lengthBytes();
            boolean together = task.writes() && length > 0
                && length <= Math.min(parameters.immediateBytes(length), IserMessage.DATA_SEGMENT_BYTES);
            RegisteredMemory memory = length > 0 ? channel.registered(task.memory()) : null;
            IserMessage message = channel.nextMessage();
            command.dataSegmentBytes(together ? length : 0);
            if (length > 0 && !together) {
                int stag = memory.remoteKey(task.memoryOffset());
                long offset = memory.address(task.memoryOffset());
                if (task.writes()) {
                    IserHeader.advertiseWrite(message.whole(), stag, offset);
                } else {
                    IserHeader.advertiseRead(message.whole(), stag, offset);
                }
            }
            numbering.stamp(command);
            int bytes = message.fill(command, null);
            if (together) {
                sendTogether(message, bytes, memory, task);
            } else {
                channel.send(message, bytes, false);
            }
        }
    }

    /** Sends a command and its data in one message. The device reads the data directly from the memory of the task. */
    private void sendTogether(IserMessage message, int bytes, RegisteredMemory memory, InitiatorTask task)
        throws IOException {
        queue.awaitRoom(1);
        SVCPostSend.SendWRMod request = sendWithData.getWrMod(0);
        channel.prepare(request, message, bytes, message, true);
        request.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
        SVCPostSend.SgeMod data = request.getSgeMod(1);
        data.setAddr(memory.address(task.memoryOffset()));
        data.setLength(task.lengthBytes());
        data.setLkey(memory.localKey(task.memoryOffset()));
        queue.post(sendWithData, message, 1);
    }

    @Override
    public void sendControl(RequestPdu pdu, ByteBuffer data) throws IOException {
        try (QueuePair.Use _ = queue.enter(); Held _ = channel.lock()) {
            int length = checkSent(data);
            if (data != null) {
                pdu.dataSegmentBytes(length);
            }
            numbering.stamp(pdu);
            channel.sendPdu(pdu, data);
        }
    }

    @Override
    public void receive(Listener listener) throws IOException {
        try (QueuePair.Use _ = queue.enter()) {
            IserMessage message = (IserMessage) channel.awaitArrival();
            int start = message.checkReceived(longestReceived());
            int opcode = message.pdu().opcode();
            if (opcode == Opcode.DATA_IN || opcode == Opcode.R2T) {
                throw new ProtocolException(
                    queue.peer() + PlainText.format(" sent a PDU with opcode %02Xh, which iSER does not use", opcode));
            }
            listener.controlNotify(message.pdu(), message.received(start));
            channel.receiveAgain(message);
        }
    }

    @Override
    public void awaitEndedTasks() {
        channel.awaitSends();
    }

    @Override
    public long sendingSinceNs() {
        return channel.sendingSinceNs();
    }

    @Override
    public void close() {
        channel.close();
    }
}
