package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.impl.NatObject;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** Keeps one {@link RdmaDomain} for each device that a connection uses. Thread-safe. */
public final class RdmaDomains {
    private final Map<Long, RdmaDomain> byDevice = new HashMap<>();

    /** Begins a use of the domain of an identifier's device. {@link #leave} ends the use. */
    public synchronized RdmaDomain enter(RdmaCmId id) throws IOException {
        // All identifiers of a device have the same verbs context.
        long device = ((NatObject) id.getVerbs()).getObjId();
        RdmaDomain domain = byDevice.get(device);
        if (domain == null) {
            domain = new RdmaDomain(id, device);
            byDevice.put(device, domain);
        }
        domain.use();
        return domain;
    }

    /** Ends a use of a domain. Closes the domain after the last use. */
    public synchronized void leave(RdmaDomain domain) throws IOException {
        if (domain.unuse()) {
            byDevice.remove(domain.device());
            domain.close();
        }
    }
}
