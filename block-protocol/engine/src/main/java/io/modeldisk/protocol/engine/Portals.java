package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.login.TargetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the parts of a target are. Each is a portal group of its own, because what lies behind its portal is not what lies behind
 * the others': they are no paths to one device (RFC 7143 section 4.1.1).
 *
 * @param ownTag the portal group tag of the part that is served here: 1 to 65535
 * @param all the portals of all parts by their tags, from 1; or none, if only the one here is known
 */
public record Portals(int ownTag, List<InetSocketAddress> all) {
    /** A target of one part. */
    public static final Portals ONE = new Portals(1, List.of());

    private static final int MAX_TAG = 65535;

    /** Takes the parts. */
    public Portals {
        all = List.copyOf(all);
        if (ownTag < 1 || ownTag > MAX_TAG || !all.isEmpty() && ownTag > all.size()) {
            throw new IllegalArgumentException("ownTag=" + ownTag + " must be from 1 to " + (all.isEmpty()
                ? MAX_TAG
                : all.size()));
        }
    }

    /**
     * What TargetAddress says, one for each part.
     *
     * @param local the address that the connection came to, which stands for this part if no other is known
     */
    List<String> targetAddresses(InetSocketAddress local) {
        if (all.isEmpty()) {
            return List.of(TargetAddress.text(local) + "," + ownTag);
        }
        List<String> addresses = new ArrayList<>();
        all.forEach(portal -> addresses.add(TargetAddress.text(portal) + "," + (addresses.size() + 1)));
        return addresses;
    }
}
