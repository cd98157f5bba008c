package io.modeldisk.protocol.datamover.iser;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.protocol.datamover.DatamoverContract;
import io.modeldisk.protocol.datamover.DatamoverPair;
import io.modeldisk.protocol.rdma.Rdma;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag("softroce")
final class IserDatamoverTest extends DatamoverContract {
    @BeforeAll
    static void needsADevice() {
        assumeTrue(Rdma.isAvailable(), "this test needs RDMA: " + Rdma.unavailabilityCause());
    }

    @Override
    protected DatamoverPair.Maker maker() {
        return IserPair::connect;
    }
}
