package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.impl.NatObject;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** A {@link RdmaDomain} for each device that there are connections over, as long as there are. Thread-safe. */
public final class RdmaDomains {
    private final Map<Long, RdmaDomain> byDevice = new HashMap<>();

    /** The domain of the device that an identifier is bound to; {@link #leave} ends its use. */
    public synchronized RdmaDomain enter(RdmaCmId id) throws IOException {
        // The context is the device as this process has it open: one however many identifiers there are.
        long device = ((NatObject) id.getVerbs()).getObjId();
        RdmaDomain domain = byDevice.get(device);
        if (domain == null) {
            domain = new RdmaDomain(id, device);
            byDevice.put(device, domain);
        }
        domain.use();
        return domain;
    }

    /** One connection of a domain is gone; when all are, so is the domain. */
    public synchronized void leave(RdmaDomain domain) throws IOException {
        if (domain.unuse()) {
            byDevice.remove(domain.device());
            domain.close();
        }
    }
}
