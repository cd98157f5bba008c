package io.modeldisk.protocol.engine;

import io.modeldisk.platform.Arguments;
import io.modeldisk.protocol.login.TargetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * The portals of a target that is divided into parts. Each shard serves one part. Each part is a separate portal group, because
 * its portal gives no access to the other parts (RFC 7143 section 4.1.1).
 *
 * @param ownTag the portal group tag of the part that this shard serves, 1 to 65535
 * @param all the portals of all parts, ordered by portal group tag from tag 1; empty if only this shard's portal is known
 */
public record Portals(int ownTag, List<InetSocketAddress> all) {
    /** The portals of a target with one part. */
    public static final Portals ONE = new Portals(1, List.of());

    private static final int MAX_TAG = 65535;

    public Portals {
        all = List.copyOf(all);
        Arguments.require(ownTag >= 1 && ownTag <= MAX_TAG && (all.isEmpty() || ownTag <= all.size()),
            "ownTag=" + ownTag + " must be from 1 to " + (all.isEmpty() ? MAX_TAG : all.size()));
    }

    /**
     * Returns the values of the key TargetAddress, one for each part.
     *
     * @param local the address to which the initiator has connected; used if {@code all} is empty
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
