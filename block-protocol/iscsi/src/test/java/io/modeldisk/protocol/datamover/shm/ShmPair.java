package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.DatamoverPair;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/** An initiator and a target that are connected by a pair of Unix sockets. */
final class ShmPair extends DatamoverPair {
    private static final int SHUT_RDWR = 2;

    private final UnixSocket near;
    private final UnixSocket far;

    ShmPair(UnixSocket[] sockets, InitiatorDatamover.Numbering initiator, TargetDatamover.Numbering target) {
        super(new ShmInitiatorDatamover(sockets[0], "the target", initiator, NanoClock.SYSTEM),
            new ShmTargetDatamover(sockets[1], "the initiator", target, new MappingLimits(), NanoClock.SYSTEM));
        near = sockets[0];
        far = sockets[1];
    }

    @Override
    public DataMemory allocate(long bytes) throws IOException {
        return DataMemory.allocateShareable(bytes);
    }

    @Override
    public void killInitiator() {
        near.shutdown(SHUT_RDWR);
    }

    @Override
    public void killTarget() {
        far.shutdown(SHUT_RDWR);
    }
}
