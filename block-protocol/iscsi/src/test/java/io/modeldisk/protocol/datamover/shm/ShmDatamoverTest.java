package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.protocol.datamover.DatamoverContract;
import io.modeldisk.protocol.datamover.DatamoverPair;

final class ShmDatamoverTest extends DatamoverContract {
    @Override
    protected DatamoverPair.Maker maker() {
        return (initiator, target, _) -> new ShmPair(UnixSocket.pair(), initiator, target);
    }
}
