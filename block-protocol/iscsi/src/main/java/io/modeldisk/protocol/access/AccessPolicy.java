package io.modeldisk.protocol.access;

import io.modeldisk.protocol.login.InitiatorPattern;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * The users, initiators and addresses that a target admits.
 *
 * @param secrets the names and secrets of CHAP; null if logins need none
 * @param insecure whether other machines may reach a target without secrets
 * @param initiators the initiators that may log in; empty for all
 * @param addresses the addresses that connections may come from; empty for all
 */
public record AccessPolicy(
    ChapSecrets secrets, boolean insecure, List<InitiatorPattern> initiators, List<AddressRange> addresses) {

    /** All users of this machine, without authentication. */
    public static final AccessPolicy THIS_MACHINE = new AccessPolicy(null, false, List.of(), List.of());

    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException for secrets without a peer, and for secrets together with {@code insecure}
     */
    public AccessPolicy {
        initiators = List.copyOf(initiators);
        addresses = List.copyOf(addresses);
        if (secrets != null && !secrets.hasPeers()) {
            throw new IllegalArgumentException(
                "the secrets have no line 'peer NAME SECRET', so that no login would succeed; add one");
        }
        if (secrets != null && insecure) {
            throw new IllegalArgumentException("--secrets and --insecure contradict each other: give one of them");
        }
    }

    /** The same, with logins that need these secrets. */
    public AccessPolicy withSecrets(ChapSecrets required) {
        return new AccessPolicy(required, insecure, initiators, addresses);
    }

    /** The same, without authentication, also for other machines. */
    public AccessPolicy withoutAuthentication() {
        return new AccessPolicy(null, true, initiators, addresses);
    }

    /** The same, for these initiators only. */
    public AccessPolicy withInitiators(List<InitiatorPattern> allowed) {
        return new AccessPolicy(secrets, insecure, allowed, addresses);
    }

    /** The same, for these addresses only. */
    public AccessPolicy withAddresses(List<AddressRange> allowed) {
        return new AccessPolicy(secrets, insecure, initiators, allowed);
    }

    /**
     * Checks that a target does not listen to other machines without authentication by mistake.
     *
     * @throws IllegalArgumentException if other machines can reach the address, without secrets and {@code insecure}
     */
    public void checkListen(InetSocketAddress listen) {
        InetAddress address = listen.getAddress();
        if (secrets == null && !insecure && address != null && !address.isLoopbackAddress()) {
            throw new IllegalArgumentException("listen=" + TargetAddress.text(listen)
                + " can be reached from other machines without authentication; give --secrets FILE, or --insecure to admit"
                + " everyone");
        }
    }

    /** Whether connections from this address are admitted. */
    public boolean admits(InetAddress address) {
        return addresses.isEmpty() || addresses.stream().anyMatch(range -> range.contains(address));
    }

    /** Whether an initiator of this normalized name is admitted. */
    public boolean admits(String initiatorName) {
        return initiators.isEmpty() || initiators.stream().anyMatch(pattern -> pattern.matches(initiatorName));
    }

    @Override
    public String toString() {
        String authentication = secrets != null ? "CHAP, " + secrets : insecure ? "none, insecure" : "none";
        return "authentication=(" + authentication + ") allowInitiators=" + initiators + " allowAddresses=" + addresses;
    }
}
