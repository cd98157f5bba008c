package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.DatamoverPair;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.rdma.Rdma;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** An initiator and a target in this process, connected by iSER over the first RDMA device of this machine. */
final class IserPair extends DatamoverPair {
    private static final long TIMEOUT_MS = 20_000;

    private IserPair(InitiatorDatamover initiator, TargetDatamover target) {
        super(initiator, target);
    }

    static IserPair connect(InitiatorDatamover.Numbering initiator, TargetDatamover.Numbering target, int slots)
        throws IOException {
        try (IserPortal portal = IserPortal.listen(new InetSocketAddress(Rdma.addresses().getFirst(), 0))) {
            CompletableFuture<InitiatorDatamover> near = CompletableFuture.supplyAsync(() -> {
                try {
                    return new IserInitiatorPortal(new IserConnector(), portal.localAddress())
                        .connect(initiator, slots, TIMEOUT_MS, NanoClock.SYSTEM);
                } catch (IOException e) {
                    throw new CompletionException(e);
                }
            });
            TargetDatamover far = portal.accept().open(target, slots, NanoClock.SYSTEM);
            return new IserPair(near.join(), far);
        }
    }

    @Override
    public int mostControlBytes() {
        return IserMessage.DATA_SEGMENT_BYTES;
    }

    @Override
    public DataMemory allocate(long bytes) {
        return DataMemory.allocate(bytes);
    }

    @Override
    public void killInitiator() {
        initiator().close();
    }

    @Override
    public void killTarget() {
        target().close();
    }
}
