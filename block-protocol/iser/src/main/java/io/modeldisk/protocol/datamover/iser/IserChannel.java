package io.modeldisk.protocol.datamover.iser;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.rdma.MemoryRights;
import io.modeldisk.protocol.rdma.QueuePair;
import io.modeldisk.protocol.rdma.RegisteredMemory;
import io.modeldisk.protocol.rdma.Work;
import io.modeldisk.protocol.rdma.WorkRequests;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Messages over a queue pair, at either end. Receives are posted ahead; sends have their own buffers and go out in the order of
 * {@link #lock}. Thread-safe as {@link QueuePair} is.
 */
final class IserChannel implements AutoCloseable {
    /** Receives for PDUs beyond one for each command: pings, task management, text, logout. */
    static final int UNEXPECTED_PDUS = 16;

    /** The most messages that are being sent. */
    static final int SENDS = 32;

    /** Only every 8th send is signaled unless its sender needs the completion: each completion costs. */
    private static final int SIGNAL_INTERVAL = 8;

    private final QueuePair queue;
    private final NanoClock clock;
    private final MemoryRights dataRights;
    private final RegisteredMemory messages;
    private final IserMessage[] kept;
    private final SVCPostRecv[] receives;
    private final IserMessage[] sends = new IserMessage[SENDS];
    private final SVCPostSend send;
    private final SVCPostSend sendAndInvalidate;
    private final List<RegisteredMemory> registered = new ArrayList<>();
    private final ReentrantLock sendLock = new ReentrantLock();
    private volatile RegisteredMemory[] known = {};
    private volatile long sendingSinceNs;
    private volatile long lastReceivedNs;
    private int nextSend;

    /**
     * Posts the receives, before the connection is made. Owns the queue pair; closes it if this fails.
     *
     * @param keptCount the messages without data that are the caller's: {@link #kept}
     * @param dataRights who may use the data of commands; messages have local rights on either side
     */
    IserChannel(QueuePair queue, int receiveCount, int keptCount, MemoryRights dataRights) throws IOException {
        this.queue = queue;
        this.clock = queue.clock();
        this.lastReceivedNs = clock.nanoTime();
        this.dataRights = dataRights;
        this.kept = new IserMessage[keptCount];
        long keptOffset = (long) (receiveCount + SENDS) * IserMessage.BYTES;
        DataMemory memory = DataMemory.allocate(keptOffset + (long) keptCount * IserMessage.BYTES_WITHOUT_DATA);
        queue.releaseAtEnd(memory::close);
        queue.releaseAtEnd(this::forgetAll);
        try {
            messages = registerNow(memory, MemoryRights.LOCAL);
            receives = new SVCPostRecv[receiveCount];
            for (int i = 0; i < receiveCount; i++) {
                IserMessage message = queue.add(new IserMessage(memory, (long) i * IserMessage.BYTES, IserMessage.BYTES,
                    "receiving a message", true));
                receives[i] = queue.prepareReceive(message, messages.address(message.offset()), IserMessage.BYTES,
                    messages.localKey(message.offset()));
                queue.postReceive(receives[i], message);
            }
            for (int i = 0; i < SENDS; i++) {
                long offset = (long) (receiveCount + i) * IserMessage.BYTES;
                sends[i] = queue.add(
                    new IserMessage(memory, offset, IserMessage.BYTES, "sending a message", false));
            }
            for (int i = 0; i < keptCount; i++) {
                kept[i] = new IserMessage(memory, keptOffset + (long) i * IserMessage.BYTES_WITHOUT_DATA,
                    IserMessage.BYTES_WITHOUT_DATA, "a response behind data", false);
            }
            send = queue.prepare(WorkRequests.send(IbvSendWR.IBV_WR_SEND, IbvSendWR.IBV_SEND_SIGNALED, 1));
            sendAndInvalidate = queue.prepare(
                WorkRequests.send(WorkRequests.SEND_WITH_INVALIDATE, IbvSendWR.IBV_SEND_SIGNALED, 1));
        } catch (IOException e) {
            queue.close();
            throw e;
        }
    }

    /** The send requests that a queue pair needs, of them {@code rdmaRequests} RDMA READs and WRITEs. */
    static int sendRequests(int rdmaRequests) {
        return SENDS + rdmaRequests;
    }

    QueuePair queue() {
        return queue;
    }

    /** A message of the caller. It is no {@link Work} of its own: it is sent behind data, as a part of that request. */
    IserMessage kept(int index) {
        return kept[index];
    }

    /** The registration of memory; slow only at this connection's first use of it. */
    RegisteredMemory registered(DataMemory memory) throws IOException {
        for (RegisteredMemory one : known) {
            if (one.isOf(memory)) {
                return one;
            }
        }
        return registerNow(memory, dataRights);
    }

    private RegisteredMemory registerNow(DataMemory memory, MemoryRights rights) throws IOException {
        synchronized (registered) {
            forget(one -> !one.isOpen());
            RegisteredMemory result = queue.domain().register(memory, rights);
            registered.add(result);
            known = registered.toArray(RegisteredMemory[]::new);
            return result;
        }
    }

    /** Deregisters memory, which unlocks its pages. */
    private void forget(Predicate<RegisteredMemory> which) throws IOException {
        for (RegisteredMemory one : List.copyOf(registered)) {
            if (which.test(one)) {
                registered.remove(one);
                queue.domain().release(one);
            }
        }
    }

    private void forgetAll() throws IOException {
        synchronized (registered) {
            forget(_ -> true);
        }
    }

    /** Waits for the next message, or for other work that arrives. */
    Work awaitArrival() throws IOException {
        Work arrival = queue.awaitArrival();
        if (arrival instanceof IserMessage) {
            lastReceivedNs = clock.nanoTime();
        }
        return arrival;
    }

    /** Posts the buffer of a message again. */
    void receiveAgain(IserMessage message) throws IOException {
        queue.postReceive(receives[(int) message.id()], message);
    }

    /** Begins to send: waits until no other thread does. */
    void lock() {
        sendLock.lock();
        sendingSinceNs = clock.nanoTime();
    }

    void unlock() {
        sendingSinceNs = 0;
        sendLock.unlock();
    }

    /** Waits for a free message, which the caller must send; with the lock. It advertises no memory yet. */
    IserMessage nextMessage() throws IOException {
        IserMessage message = sends[nextSend];
        if (nextSend % SIGNAL_INTERVAL == 0) {
            IserMessage last = sends[nextSend + SIGNAL_INTERVAL - 1];
            queue.awaitEnd(last, last.turn());
        }
        nextSend = (nextSend + 1) % SENDS;
        IserHeader.begin(message.whole());
        return message;
    }

    /** Sends a message from {@link #nextMessage}; with the lock. Its turn, whose end can be awaited if it is {@code signaled}. */
    int send(IserMessage message, int bytes, boolean signaled) throws IOException {
        return send(send, message, bytes, signaled);
    }

    /** Sends a message as {@link #send}, which also invalidates a key of the peer. */
    int sendAndInvalidate(IserMessage message, int bytes, boolean signaled, int key) throws IOException {
        sendAndInvalidate.getWrMod(0).getRdmaMod().setRkey(key);
        return send(sendAndInvalidate, message, bytes, signaled);
    }

    private int send(SVCPostSend call, IserMessage message, int bytes, boolean signaled) throws IOException {
        queue.awaitRoom(1);
        boolean signals = signaled || nextSend % SIGNAL_INTERVAL == 0;
        prepare(call.getWrMod(0), message, bytes, message, signals);
        if (signals) {
            return queue.post(call, message, 1);
        }
        queue.postUnsignaled(call);
        return message.turn();
    }

    /** Patches a send request for a message; if it is signaled, the completion ends {@code work}. */
    void prepare(SVCPostSend.SendWRMod request, IserMessage message, int bytes, Work work, boolean signaled) {
        request.setWr_id(work.id());
        request.setSend_flags((signaled ? IbvSendWR.IBV_SEND_SIGNALED : 0)
            | (bytes <= queue.inlineBytes() ? IbvSendWR.IBV_SEND_INLINE : 0));
        SVCPostSend.SgeMod part = request.getSgeMod(0);
        part.setAddr(messages.address(message.offset()));
        part.setLength(bytes);
        part.setLkey(messages.localKey(message.offset()));
    }

    /** Sends a PDU with its data; with the lock. */
    void sendPdu(Pdu pdu, ByteBuffer data) throws IOException {
        IserMessage message = nextMessage();
        send(message, message.fill(pdu, data), false);
    }

    /** Waits until every signaled send has ended, among them all that carry data from the memory of tasks. */
    void awaitSends() {
        for (IserMessage message : sends) {
            queue.awaitOver(message);
        }
    }

    long sendingSinceNs() {
        return sendingSinceNs;
    }

    long lastReceivedNs() {
        return lastReceivedNs;
    }

    @Override
    public void close() {
        queue.close();
    }
}
