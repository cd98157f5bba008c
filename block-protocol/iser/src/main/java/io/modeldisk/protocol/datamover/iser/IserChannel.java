package io.modeldisk.protocol.datamover.iser;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import io.modeldisk.platform.threads.ScopedLock.Held;
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
 * Sends and receives messages over a queue pair, for an initiator or a target. Receives are posted in advance. Each send has its
 * own buffer. Threads send in the order in which they acquire {@link #lock}. Thread-safe if the caller follows the rules of
 * {@link QueuePair}.
 */
final class IserChannel implements AutoCloseable {
    /** The number of posted receives for PDUs that are not SCSI commands: pings, task management, text and logout. */
    static final int UNEXPECTED_PDUS = 16;

    /** The maximum number of sends in flight. */
    static final int SENDS = 32;

    /** Only every 8th send, and each send whose completion a thread needs, is signaled, because each completion costs time. */
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
    private final Held sending = this::unlock;
    private volatile RegisteredMemory[] known = {};
    private volatile long sendingSinceNs;
    private volatile long lastReceivedNs;
    private int nextSend;

    /**
     * Creates a channel that owns the unconnected queue pair, and posts its receives. Closes the queue pair on failure.
     *
     * @param keptCount the number of messages for {@link #kept}
     * @param dataRights the rights to the memory of command data; the memory of messages always has local rights
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
                    IserMessage.BYTES_WITHOUT_DATA, "sending a response after data", false);
            }
            send = queue.prepare(WorkRequests.send(IbvSendWR.IBV_WR_SEND, IbvSendWR.IBV_SEND_SIGNALED, 1));
            sendAndInvalidate = queue.prepare(
                WorkRequests.send(WorkRequests.SEND_WITH_INVALIDATE, IbvSendWR.IBV_SEND_SIGNALED, 1));
        } catch (IOException e) {
            queue.close();
            throw e;
        }
    }

    /** Returns the number of send requests for a queue pair: {@link #SENDS} messages and {@code rdmaRequests} RDMA requests. */
    static int sendRequests(int rdmaRequests) {
        return SENDS + rdmaRequests;
    }

    /**
     * Returns a message without data. The caller keeps the message and sends it after the last RDMA WRITE of a read. The message
     * and the WRITE belong to the same {@link Work}, so the message has no separate completion.
     */
    IserMessage kept(int index) {
        return kept[index];
    }

    /** Returns the registration of {@code memory}. The first call for each memory is slow, because it registers the memory. */
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

    /** Releases the registrations that match {@code which}. The kernel then unlocks the pages of the memory. */
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

    /** Waits for the next received message or the next completed transfer, and returns its work request. */
    Work awaitArrival() throws IOException {
        Work arrival = queue.awaitArrival();
        if (arrival instanceof IserMessage) {
            lastReceivedNs = clock.nanoTime();
        }
        return arrival;
    }

    /** Posts the buffer of a message again, for the next receive. */
    void receiveAgain(IserMessage message) throws IOException {
        queue.postReceive(receives[(int) message.id()], message);
    }

    /** Acquires the lock for sending. Closing the result releases the lock. */
    Held lock() {
        sendLock.lock();
        sendingSinceNs = clock.nanoTime();
        return sending;
    }

    private void unlock() {
        sendingSinceNs = 0;
        sendLock.unlock();
    }

    /**
     * Waits for a free message, and returns it with a header that advertises no memory. The caller must send the message. The
     * caller must hold {@code sendLock}.
     */
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

    /**
     * Sends a message from {@link #nextMessage}. The caller must hold {@code sendLock}. If {@code signaled} is true, the caller
     * can wait for the returned turn (the number of this use of the message) with {@link QueuePair#awaitEnd}.
     */
    int send(IserMessage message, int bytes, boolean signaled) throws IOException {
        return send(send, message, bytes, signaled);
    }

    /**
     * Sends a message like {@link #send}, and lets the device of the peer invalidate memory key {@code key}. The caller must hold
     * {@code sendLock}.
     */
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

    /** Sets the fields of a send request for a message. If the request is signaled, its completion completes {@code work}. */
    void prepare(SVCPostSend.SendWRMod request, IserMessage message, int bytes, Work work, boolean signaled) {
        request.setWr_id(work.id());
        request.setSend_flags((signaled ? IbvSendWR.IBV_SEND_SIGNALED : 0)
            | (bytes <= queue.inlineBytes() ? IbvSendWR.IBV_SEND_INLINE : 0));
        SVCPostSend.SgeMod part = request.getSgeMod(0);
        part.setAddr(messages.address(message.offset()));
        part.setLength(bytes);
        part.setLkey(messages.localKey(message.offset()));
    }

    /** Sends a PDU with its data. The caller must hold {@code sendLock}. */
    void sendPdu(Pdu pdu, ByteBuffer data) throws IOException {
        IserMessage message = nextMessage();
        send(message, message.fill(pdu, data), false);
    }

    /** Waits for all signaled sends. Afterwards, no send reads memory of a task, because every such send is signaled. */
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
