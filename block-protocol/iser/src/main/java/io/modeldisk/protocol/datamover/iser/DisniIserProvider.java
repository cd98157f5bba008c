package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.rdma.Rdma;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;

/** Provides iSER over the verbs of DiSNI. */
public final class DisniIserProvider implements IserProvider {
    @Override
    public String unavailabilityCause() {
        return Rdma.unavailabilityCause();
    }

    @Override
    public List<InetAddress> addresses() throws IOException {
        return Rdma.addresses();
    }

    @Override
    public TargetPortal.Opener opener() {
        return new IserPortal.Opener();
    }

    @Override
    public Connections connections() {
        IserConnector connector = new IserConnector();
        return address -> new IserInitiatorPortal(connector, address);
    }
}
