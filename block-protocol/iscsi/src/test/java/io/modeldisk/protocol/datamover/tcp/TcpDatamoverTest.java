package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.DatamoverContract;
import io.modeldisk.protocol.datamover.DatamoverPair;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

final class TcpDatamoverTest extends DatamoverContract {
    @Override
    protected DatamoverPair.Maker maker() {
        return TcpDatamoverTest::connect;
    }

    private static DatamoverPair connect(
        InitiatorDatamover.Numbering initiator, TargetDatamover.Numbering target, int slots) throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            SocketChannel near = SocketChannel.open(listener.getLocalAddress());
            SocketChannel far = listener.accept();
            return new TcpPair(near, far, initiator, target, slots);
        }
    }

    private static final class TcpPair extends DatamoverPair {
        private final SocketChannel near;
        private final SocketChannel far;

        TcpPair(SocketChannel near, SocketChannel far, InitiatorDatamover.Numbering initiator,
            TargetDatamover.Numbering target, int slots)
            throws IOException {
            super(new TcpInitiatorDatamover(near, initiator, slots, NanoClock.SYSTEM),
                new TcpTargetDatamover(far, target, slots, NanoClock.SYSTEM));
            this.near = near;
            this.far = far;
        }

        @Override
        public DataMemory allocate(long bytes) {
            return DataMemory.allocate(bytes);
        }

        @Override
        public void killInitiator() throws IOException {
            near.close();
        }

        @Override
        public void killTarget() throws IOException {
            far.close();
        }
    }
}
