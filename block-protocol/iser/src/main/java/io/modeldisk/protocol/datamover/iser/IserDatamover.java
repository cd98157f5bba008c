package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.rdma.MemoryRights;
import io.modeldisk.protocol.rdma.QueuePair;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The common part of the datamovers of both sides: the channel, the agreed parameters and the limits of a data segment. */
abstract class IserDatamover {
    final QueuePair queue;
    final IserChannel channel;
    OperationalParameters parameters = OperationalParameters.DEFAULTS;

    /**
     * Creates a datamover that owns the queue pair, and posts receives for {@code commands} commands. {@code kept} is the number
     * of messages for {@link IserChannel#kept}.
     */
    IserDatamover(QueuePair queue, int commands, int kept, MemoryRights rights) throws IOException {
        this.queue = queue;
        this.channel = new IserChannel(queue, receives(commands), kept, rights);
    }

    static int receives(int commands) {
        return commands + IserChannel.UNEXPECTED_PDUS;
    }

    public final boolean isRdma() {
        return true;
    }

    /** Reduces the limits in {@code wishes}, so immediate data fits into one message. The target fetches all other data. */
    public final OperationalParameters limited(OperationalParameters wishes) {
        int longest = IserMessage.DATA_SEGMENT_BYTES;
        return new OperationalParameters(true, wishes.immediateData(), Math.min(wishes.firstBurstBytes(), longest),
            wishes.maxBurstBytes(), longest, longest, Digest.NONE, Digest.NONE);
    }

    public final void enable(OperationalParameters agreed) {
        parameters = agreed;
    }

    /** Returns the maximum length of a data segment that the peer is allowed to send. */
    final int longestReceived() {
        return Math.min(parameters.ownDataSegmentBytes(), IserMessage.DATA_SEGMENT_BYTES);
    }

    /** Checks that a data segment is not longer than the peer accepts. Returns the length, which is 0 if {@code data} is null. */
    final int checkSent(ByteBuffer data) throws ProtocolException {
        int length = data == null ? 0 : data.remaining();
        int longest = Math.min(parameters.peerDataSegmentBytes(), IserMessage.DATA_SEGMENT_BYTES);
        if (length > longest) {
            throw new ProtocolException(
                "the data segment has " + length + " bytes, but " + queue.peer() + " accepts at most " + longest);
        }
        return length;
    }
}
