package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.impl.NatObject;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** Keeps one {@link RdmaDomain} for each device that a connection uses. Thread-safe. */
public final class RdmaDomains {
    private final Map<Long, RdmaDomain> byDevice = new HashMap<>();

    /** Returns the domain of the device of {@code id}, and adds a user of the domain. The user must call {@link #leave}. */
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

    /** Removes a user of a domain. Closes the domain if no user is left. */
    public synchronized void leave(RdmaDomain domain) throws IOException {
        if (domain.unuse()) {
            byDevice.remove(domain.device());
            domain.close();
        }
    }
}
