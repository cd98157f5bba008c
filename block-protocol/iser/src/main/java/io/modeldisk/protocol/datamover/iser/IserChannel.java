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
 * Messages over a queue pair, for either end: receives are posted ahead, sends have places of their own and go out in the order
 * in which {@link #lock} was taken. Thread-safe as {@link QueuePair} is.
 */
final class IserChannel implements AutoCloseable {
    /** PDUs that come unasked, beyond one for each command: pings, task management, text, logout. */
    static final int UNEXPECTED_PDUS = 16;

    /** How many messages may be on their way out. */
    static final int SENDS = 32;

    /** Of so many messages the device tells only that the last is out, if nobody needs to know more: each word of it costs. */
    private static final int GROUP = 8;

    private final QueuePair queue;
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
    private final NanoClock clock;
    private volatile long sendingSinceNanos;
    private volatile long lastReceivedNanos;
    private int nextSend;

    /**
     * Posts the receives, so before the connection is there. Owns the queue pair; closes it if this fails.
     *
     * @param keptCount how many messages without data the caller has for itself: {@link #kept}
     * @param dataRights who may use the data of commands; messages have local rights on either side
     */
    IserChannel(QueuePair queue, int receiveCount, int keptCount, MemoryRights dataRights, NanoClock clock)
        throws IOException {
        this.queue = queue;
        this.clock = clock;
        this.lastReceivedNanos = clock.nanoTime();
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
                    IserMessage.BYTES_WITHOUT_DATA, "a part of another's work", false);
            }
            send = queue.prepare(WorkRequests.send(IbvSendWR.IBV_WR_SEND, IbvSendWR.IBV_SEND_SIGNALED, 1));
            sendAndInvalidate = queue.prepare(
                WorkRequests.send(WorkRequests.SEND_WITH_INVALIDATE, IbvSendWR.IBV_SEND_SIGNALED, 1));
        } catch (IOException e) {
            queue.close();
            throw e;
        }
    }

    /** A queue pair is made for this many requests but receives. */
    static int sendRequests(int rdmaRequests) {
        return SENDS + rdmaRequests;
    }

    QueuePair queue() {
        return queue;
    }

    /** A message of the caller's own, which is no work by itself: whoever sends it knows when it is out. */
    IserMessage kept(int index) {
        return kept[index];
    }

    /** The registration of memory: a look, but for the first time that this connection sees it. */
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

    /** Memory that is gone stays locked no longer. */
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

    /** Waits for the next message, or another piece of work that was made to arrive. */
    Work awaitArrival() throws IOException {
        Work arrival = queue.awaitArrival();
        if (arrival instanceof IserMessage) {
            lastReceivedNanos = clock.nanoTime();
        }
        return arrival;
    }

    /** Lets the next message come where this one was. */
    void receiveAgain(IserMessage message) throws IOException {
        queue.postReceive(receives[(int) message.id()], message);
    }

    /** Begins to send: waits until no other thread does. */
    void lock() {
        sendLock.lock();
        sendingSinceNanos = clock.nanoTime();
    }

    void unlock() {
        sendingSinceNanos = 0;
        sendLock.unlock();
    }

    /** Waits for a place for a message, which has to be sent then; with the lock. It advertises nothing yet. */
    IserMessage nextMessage() throws IOException {
        IserMessage message = sends[nextSend];
        if (nextSend % GROUP == 0) {
            IserMessage last = sends[nextSend + GROUP - 1];
            queue.awaitEnd(last, last.turn());
        }
        nextSend = (nextSend + 1) % SENDS;
        IserHeader.begin(message.whole());
        return message;
    }

    /** Sends a message from {@link #nextMessage}; with the lock. Answers its turn, whose end is known if it {@code tells}. */
    int send(IserMessage message, int bytes, boolean tells) throws IOException {
        return send(send, message, bytes, tells);
    }

    /** Sends a message as {@link #send}, which invalidates a key of the other side's. */
    int sendAndInvalidate(IserMessage message, int bytes, boolean tells, int key) throws IOException {
        sendAndInvalidate.getWrMod(0).getRdmaMod().setRkey(key);
        return send(sendAndInvalidate, message, bytes, tells);
    }

    private int send(SVCPostSend call, IserMessage message, int bytes, boolean tells) throws IOException {
        queue.awaitRoom(1);
        boolean signaled = tells || nextSend % GROUP == 0;
        prepare(call.getWrMod(0), message, bytes, message, signaled);
        if (signaled) {
            return queue.post(call, message, 1);
        }
        queue.postSilently(call);
        return message.turn();
    }

    /** Patches a send request for a message, of which a piece of work hears the end if it is signaled. */
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

    /** Waits until all is out that is being sent and tells of it: what takes data along from where it is. */
    void awaitSends() {
        for (IserMessage message : sends) {
            queue.awaitOver(message);
        }
    }

    long sendingSinceNanos() {
        return sendingSinceNanos;
    }

    long lastReceivedNanos() {
        return lastReceivedNanos;
    }

    @Override
    public void close() {
        queue.close();
    }
}
