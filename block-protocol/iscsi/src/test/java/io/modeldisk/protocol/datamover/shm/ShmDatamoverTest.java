package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.protocol.datamover.DatamoverContract;
import io.modeldisk.protocol.datamover.DatamoverPair;

final class ShmDatamoverTest extends DatamoverContract {
    @Override
    protected DatamoverPair.Maker maker() {
        return (initiator, target, slots) -> ShmPair.connect(initiator, target,
            new MappingLimits(MappingLimits.DEFAULT_CONNECTION_BYTES, MappingLimits.DEFAULT_TOTAL_BYTES));
    }
}
