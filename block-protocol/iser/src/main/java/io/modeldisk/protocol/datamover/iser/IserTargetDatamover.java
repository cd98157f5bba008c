package io.modeldisk.protocol.datamover.iser;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.SVCPostSend;
import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.protocol.datamover.DataArrival;
import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.DataTransfer;
import io.modeldisk.protocol.datamover.ImmediateData;
import io.modeldisk.protocol.datamover.Liveness;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.datamover.RemainingData;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.pdu.ScsiResponsePdu;
import io.modeldisk.protocol.rdma.MemoryRights;
import io.modeldisk.protocol.rdma.QueuePair;
import io.modeldisk.protocol.rdma.RegisteredMemory;
import io.modeldisk.protocol.rdma.Work;
import io.modeldisk.protocol.rdma.WorkRequests;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The datamover of a target over iSER (RFC 7145). RDMA READs fetch the write data that did not arrive with the command. RDMA
 * WRITEs send the data of a read. The last WRITE is posted together with the response. Many transfers can be in progress at the
 * same time. The target never agrees to unsolicited Data-Out PDUs.
 */
public final class IserTargetDatamover extends IserDatamover implements TargetDatamover {
    /** The maximum number of RDMA requests in flight on a connection: enough for a few long writes and many reads. */
    private static final int RDMA_REQUESTS = 128;

    /** The maximum number of WRITEs in flight that are not the last WRITE of their read. */
    private static final int WRITES = 16;

    /**
     * The rights of initiators to memory of the target. Initiators need no remote rights, because only the target posts RDMA
     * requests. Without remote rights, a peer that has not logged in cannot access memory of the target.
     */
    static final MemoryRights DATA_RIGHTS = MemoryRights.LOCAL;

    private final Numbering numbering;
    private final IserTransfer[] transfers;
    private final IserPuts puts;
    private final Work[] writes = new Work[WRITES];
    private final SVCPostSend read;
    private final SVCPostSend lastRead;
    private final SVCPostSend write;
    private final SVCPostSend writeAndRespond;
    private final boolean invalidates;
    private final ScsiResponsePdu response = new ScsiResponsePdu(Pdu.newHeader());
    private final Pdu received = new Pdu(Pdu.newHeader());
    private final CommandData commandData = new CommandData();
    private final RemainingData remainingData = this::getData;
    private int nextWrite;

    /**
     * Creates a datamover that owns the queue pair, and posts the receives. The queue pair is not connected yet.
     *
     * @param slots the maximum number of transfers at one time, each with its own {@link DataTransfer#slot()}
     * @param invalidates whether a response invalidates the memory key that its command advertised; agreed with the initiator
     */
    IserTargetDatamover(QueuePair queue, Numbering numbering, int slots, boolean invalidates) throws IOException {
        super(queue, slots, slots, DATA_RIGHTS);
        this.invalidates = invalidates;
        this.numbering = numbering;
        this.transfers = new IserTransfer[slots];
        this.puts = new IserPuts(slots, queue.clock());
        try {
            for (int i = 0; i < slots; i++) {
                transfers[i] = queue.add(new IserTransfer(channel.kept(i)));
            }
            for (int i = 0; i < WRITES; i++) {
                writes[i] = queue.add(new Work("an RDMA WRITE of read data", false));
            }
            read = queue.prepare(WorkRequests.send(IbvSendWR.IBV_WR_RDMA_READ, 0, 1));
            lastRead = queue.prepare(WorkRequests.send(IbvSendWR.IBV_WR_RDMA_READ, IbvSendWR.IBV_SEND_SIGNALED, 1));
            write = queue.prepare(WorkRequests.send(IbvSendWR.IBV_WR_RDMA_WRITE, IbvSendWR.IBV_SEND_SIGNALED, 1));
            writeAndRespond = queue.prepare(WorkRequests.send(IbvSendWR.IBV_WR_RDMA_WRITE, 0, 1),
                WorkRequests.send(invalidates ? WorkRequests.SEND_WITH_INVALIDATE : IbvSendWR.IBV_WR_SEND,
                    IbvSendWR.IBV_SEND_SIGNALED, 1));
        } catch (IOException e) {
            queue.close();
            throw e;
        }
    }

    static int sendRequests() {
        return IserChannel.sendRequests(RDMA_REQUESTS);
    }

    @Override
    public boolean reachesDevices() {
        return true;
    }

    @Override
    public void receiveControl(ControlListener listener) throws IOException {
        try (QueuePair.Use _ = queue.enter()) {
            // Every arrival is a message, because no transfer begins before the full-feature phase.
            IserMessage message = (IserMessage) channel.awaitArrival();
            int start = check(message);
            listener.controlNotify(message.pdu(), message.received(start));
            channel.receiveAgain(message);
        }
    }

    @Override
    public void receive(Listener listener) throws IOException {
        try (QueuePair.Use _ = queue.enter()) {
            Work arrival = channel.awaitArrival();
            if (arrival instanceof IserTransfer transfer) {
                if (transfer.put) {
                    putDone(listener, transfer);
                } else {
                    readDone(listener, transfer);
                }
            } else {
                IserMessage message = (IserMessage) arrival;
                receive(listener, message);
                channel.receiveAgain(message);
            }
        }
    }

    /** Checks the lengths of a message. Returns the offset of its data segment. */
    private int check(IserMessage message) throws ProtocolException {
        // The header is copied, because the buffer of the message is reused before received() is called.
        received.header().put(0, message.pdu().header(), 0, Pdu.BHS_BYTES);
        return message.checkReceived(longestReceived());
    }

    private void receive(Listener listener, IserMessage message) throws IOException {
        int start = check(message);
        endAcknowledgedPuts(listener, message.command().expStatSn());
        switch (message.pdu().opcode()) {
            case Opcode.SCSI_COMMAND -> listener.commandNotify(message.command(), commandData.of(message, start));
            case Opcode.DATA_OUT -> throw new ProtocolException(
                "the initiator sent a Data-Out PDU, but InitialR2T=Yes was agreed");
            default -> listener.controlNotify(message.pdu(), message.received(start));
        }
    }

    /** The data that arrived in the message of a command. */
    private final class CommandData implements ImmediateData {
        private IserMessage message;
        private int start;

        CommandData of(IserMessage received, int dataStart) {
            message = received;
            start = dataStart;
            return this;
        }

        @Override
        public DataArrival moveTo(DataTransfer transfer, boolean wanted) throws IOException {
            ScsiCommandPdu command = message.command();
            if (command.writes() && !command.isFinal()) {
                throw new ProtocolException(
                    "the initiator announced Data-Out PDUs for a command, but InitialR2T=Yes was agreed");
            }
            IserTransfer state = transfers[transfer.slot()];
            int length = command.dataSegmentBytes();
            state.begin(transfer, message.whole(), length);
            DataError error = wanted ? state.check(command, parameters) : DataError.UNWANTED;
            if (error != null) {
                return error;
            }
            copy(transfer, Math.min(length, transfer.lengthBytes()));
            return transfer.isComplete() ? DataArrival.Complete.COMPLETE : remainingData;
        }

        private void copy(DataTransfer transfer, int bytes) {
            MemorySegment from = message.segment();
            int done = 0;
            while (done < bytes) {
                int part = Math.min(bytes - done, transfer.contiguousBytes(done));
                long to = transfer.address(done);
                MemorySegment.copy(from, start + done, transfer.memory().slab(to), DataMemory.offsetInSlab(to), part);
                done += part;
            }
            transfer.received(bytes);
        }

        @Override
        public boolean drop() {
            return true;
        }
    }

    /** Completes the reads whose status the initiator has acknowledged. The device has processed their RDMA requests. */
    private void endAcknowledgedPuts(Listener listener, int expStatSn) throws IOException {
        for (IserTransfer put = puts.acknowledged(expStatSn); put != null; put = puts.acknowledged(expStatSn)) {
            queue.awaitEnd(put, put.turn());
            queue.withdraw(put);
            putDone(listener, put);
        }
    }

    private void putDone(Listener listener, IserTransfer put) {
        puts.remove(put);
        listener.putCompletionNotify(put.transfer);
    }

    private static void readDone(Listener listener, IserTransfer state) throws IOException {
        if (!state.takeAwaited()) {
            return;
        }
        DataTransfer transfer = state.transfer;
        transfer.received(state.requestedBytes - transfer.receivedBytes());
        if (transfer.isComplete()) {
            listener.dataCompletionNotify(transfer);
        }
    }

    @Override
    public Pdu received() {
        return received;
    }

    private void getData(DataTransfer transfer, int bytes) throws IOException {
        IserTransfer state = transfers[transfer.slot()];
        try (QueuePair.Use _ = queue.enter(); Held _ = channel.lock()) {
            RegisteredMemory memory = channel.registered(transfer.memory());
            int position = transfer.receivedBytes();
            int requests = transfer.piecesFor(bytes) - position / transfer.place().pieceBytes();
            queue.awaitRoom(requests);
            state.requested(bytes);
            while (position < bytes) {
                int part = Math.min(bytes - position, transfer.contiguousBytes(position));
                boolean last = position + part == bytes;
                SVCPostSend call = last ? lastRead : read;
                SVCPostSend.SendWRMod request = call.getWrMod(0);
                request.setWr_id(state.id());
                local(request, memory, transfer.address(position), part);
                remote(request, state.writeStag, state.writeOffset(position));
                if (last) {
                    queue.post(call, state, 1);
                } else {
                    queue.postUnsignaled(call);
                }
                position += part;
            }
        }
    }

    private static void local(SVCPostSend.SendWRMod request, RegisteredMemory memory, long offset, int bytes) {
        SVCPostSend.SgeMod part = request.getSgeMod(0);
        part.setAddr(memory.address(offset));
        part.setLength(bytes);
        part.setLkey(memory.localKey(offset));
    }

    private static void remote(SVCPostSend.SendWRMod request, int stag, long offset) {
        request.getRdmaMod().setRemote_addr(offset);
        request.getRdmaMod().setRkey(stag);
    }

    @Override
    public void forget(DataTransfer transfer) {
        IserTransfer state = transfers[transfer.slot()];
        state.forget();
        // The device must have finished with the memory of this transfer, because another task might use the memory next.
        if (state.lastWrite != null) {
            queue.awaitOver(state.lastWrite, state.lastWriteTurn);
            state.lastWrite = null;
        }
        queue.withdraw(state);
        puts.remove(state);
    }

    @Override
    public boolean putData(
        DataTransfer transfer, int dataOffset, DataMemory memory, long memoryOffset, int bytes, boolean last,
        long residual)
        throws IOException {
        IserTransfer state = transfers[transfer.slot()];
        try (QueuePair.Use _ = queue.enter(); Held _ = channel.lock()) {
            SVCPostSend call = last ? writeAndRespond : write;
            SVCPostSend.SendWRMod request = call.getWrMod(0);
            local(request, channel.registered(memory), memoryOffset, bytes);
            remote(request, state.readStag, state.readOffset(dataOffset));
            if (last) {
                queue.awaitRoom(2);
                request.setWr_id(state.id());
                respond(call, state, residual);
                queue.post(call, state, 2);
                return false;
            }
            Work work = nextWrite();
            queue.awaitRoom(1);
            request.setWr_id(work.id());
            state.writing(work, queue.post(call, work, 1));
            return false;
        }
    }

    @Override
    public void awaitPuts(DataTransfer transfer) throws IOException {
        IserTransfer state = transfers[transfer.slot()];
        if (state.lastWrite == null) {
            return;
        }
        try (QueuePair.Use _ = queue.enter()) {
            // The device completes requests in order, so the earlier requests are complete too.
            queue.awaitEnd(state.lastWrite, state.lastWriteTurn);
            state.lastWrite = null;
        }
    }

    /** Prepares the response that follows the last WRITE of a read. */
    private void respond(SVCPostSend chain, IserTransfer state, long residual) throws IOException {
        IserMessage message = state.response;
        IserHeader.begin(message.whole());
        response.begin(state.transfer.initiatorTaskTag(), ScsiStatus.GOOD, 0).residual(residual);
        numbering.stamp(response, true);
        puts.add(state, response.statSn());
        if (invalidates) {
            chain.getWrMod(1).getRdmaMod().setRkey(state.takeAdvertisedKey(state.transfer.initiatorTaskTag()));
        }
        channel.prepare(chain.getWrMod(1), message, message.fill(response, null), state, true);
    }

    private Work nextWrite() throws IOException {
        Work work = writes[nextWrite];
        nextWrite = (nextWrite + 1) % WRITES;
        queue.awaitEnd(work, work.turn());
        return work;
    }

    @Override
    public void sendControl(ResponsePdu pdu, ByteBuffer data, boolean carriesStatus) throws IOException {
        int length = checkSent(data);
        try (QueuePair.Use _ = queue.enter()) {
            IserMessage message;
            int turn;
            boolean signaled = mayBeTheLast(pdu.opcode());
            try (Held _ = channel.lock()) {
                message = channel.nextMessage();
                if (data != null) {
                    pdu.dataSegmentBytes(length);
                }
                numbering.stamp(pdu, carriesStatus);
                int key = invalidates && pdu.opcode() == Opcode.SCSI_RESPONSE ? takeKeyOf(pdu.initiatorTaskTag()) : 0;
                int bytes = message.fill(pdu, data);
                turn = key == 0
                    ? channel.send(message, bytes, signaled)
                    : channel.sendAndInvalidate(message, bytes, signaled, key);
            }
            if (signaled) {
                queue.awaitEnd(message, turn);
            }
        }
    }

    /** Removes and returns the memory key that the response to a task invalidates; 0 if the task advertised no memory. */
    private int takeKeyOf(int initiatorTaskTag) {
        for (IserTransfer transfer : transfers) {
            int key = transfer.takeAdvertisedKey(initiatorTaskTag);
            if (key != 0) {
                return key;
            }
        }
        return 0;
    }

    /** Returns whether a PDU can be the last PDU of its connection. The connection stays open until the device has sent it. */
    private static boolean mayBeTheLast(int opcode) {
        return opcode == Opcode.LOGOUT_RESPONSE || opcode == Opcode.LOGIN_RESPONSE || opcode == Opcode.REJECT
            || opcode == Opcode.ASYNC_MESSAGE;
    }

    @Override
    public Liveness liveness() {
        long message = channel.sendingSinceNs();
        long put = puts.sinceNs();
        long sending = message == 0 || put != 0 && put - message < 0 ? put : message;
        // The device delivers only whole messages, so no message is partly received.
        return new Liveness(0, channel.lastReceivedNs(), sending);
    }

    @Override
    public String peer() {
        return queue.peer();
    }

    @Override
    public void close() {
        channel.close();
    }
}
