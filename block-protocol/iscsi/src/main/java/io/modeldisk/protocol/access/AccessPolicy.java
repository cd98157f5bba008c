package io.modeldisk.protocol.access;

import io.modeldisk.platform.Arguments;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * The users and addresses that a target admits.
 *
 * @param secrets the names and secrets of CHAP; null if a login needs no secret
 * @param insecure whether other machines may log in without a secret
 * @param addresses the addresses that may connect; empty if all addresses may connect
 */
public record AccessPolicy(
    ChapSecrets secrets, boolean insecure, List<AddressRange> addresses) {

    /** A policy that admits all users of this machine without authentication. */
    public static final AccessPolicy THIS_MACHINE = new AccessPolicy(null, false, List.of());

    /** @throws IllegalArgumentException if the secrets contain no peer, or if both secrets and {@code insecure} are given */
    public AccessPolicy {
        addresses = List.copyOf(addresses);
        Arguments.require(secrets == null || secrets.hasPeers(),
            "the secrets have no line 'peer NAME SECRET', so every login would fail; add such a line");
        Arguments.require(secrets == null || !insecure,
            "--secrets and --insecure contradict each other; give only one of them");
    }

    /**
     * Checks that this policy is strict enough for a listen address.
     *
     * @throws IllegalArgumentException if other machines can reach the address but neither secrets nor {@code insecure} is given
     */
    public void checkListen(InetSocketAddress listen) {
        InetAddress address = listen.getAddress();
        Arguments.require(secrets != null || insecure || address == null || address.isLoopbackAddress(), "listen="
            + TargetAddress.text(listen)
            + " can be reached from other machines without authentication; give --secrets FILE, or --insecure to admit"
            + " every initiator");
    }

    /** Returns whether the policy admits connections from this address. */
    public boolean admits(InetAddress address) {
        return addresses.isEmpty() || addresses.stream().anyMatch(range -> range.contains(address));
    }

    @Override
    public String toString() {
        String authentication = secrets != null ? "CHAP, " + secrets : insecure ? "none, insecure" : "none";
        return "authentication=(" + authentication + ") allowAddresses=" + addresses;
    }
}
