package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.login.TargetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * The portals of a target that is served in parts, one shard a part. Each part is a separate portal group, because the portals
 * are not paths to the same device (RFC 7143 section 4.1.1).
 *
 * @param ownTag the portal group tag of the part that is served here: 1 to 65535
 * @param all the portals of all parts by their tags, from 1; empty if only the part here is known
 */
public record Portals(int ownTag, List<InetSocketAddress> all) {
    /** A target of one part. */
    public static final Portals ONE = new Portals(1, List.of());

    private static final int MAX_TAG = 65535;

    /** Checks the tag. */
    public Portals {
        all = List.copyOf(all);
        if (ownTag < 1 || ownTag > MAX_TAG || !all.isEmpty() && ownTag > all.size()) {
            throw new IllegalArgumentException("ownTag=" + ownTag + " must be from 1 to " + (all.isEmpty()
                ? MAX_TAG
                : all.size()));
        }
    }

    /**
     * The values of TargetAddress, one for each part.
     *
     * @param local the address that the initiator has connected to, used if no portals are known
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
