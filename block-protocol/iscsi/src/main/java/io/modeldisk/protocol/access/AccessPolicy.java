package io.modeldisk.protocol.access;

import io.modeldisk.protocol.login.InitiatorPattern;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * Who may use a target.
 *
 * @param secrets the names and secrets of CHAP that every login needs; null for none
 * @param insecure whether a target may be reached from other machines though nobody has to authenticate
 * @param initiators the initiators that may log in; all if there is none
 * @param addresses where connections may come from; anywhere if there is none
 */
public record AccessPolicy(
    ChapSecrets secrets, boolean insecure, List<InitiatorPattern> initiators, List<AddressRange> addresses) {

    /** Everybody on this machine, and nobody else. */
    public static final AccessPolicy THIS_MACHINE = new AccessPolicy(null, false, List.of(), List.of());

    /**
     * Takes the parts.
     *
     * @throws IllegalArgumentException for secrets with which nobody can log in, and for secrets that are insecure
     */
    public AccessPolicy {
        initiators = List.copyOf(initiators);
        addresses = List.copyOf(addresses);
        if (secrets != null && !secrets.hasPeers()) {
            throw new IllegalArgumentException(
                "the secrets have no line 'peer NAME SECRET': nobody could log in");
        }
        if (secrets != null && insecure) {
            throw new IllegalArgumentException("--secrets and --insecure contradict each other: give one of them");
        }
    }

    /** The same, but everyone who logs in has to authenticate. */
    public AccessPolicy withSecrets(ChapSecrets required) {
        return new AccessPolicy(required, insecure, initiators, addresses);
    }

    /** The same, but who can reach it may use it. */
    public AccessPolicy withoutAuthentication() {
        return new AccessPolicy(null, true, initiators, addresses);
    }

    /** The same, for these initiators alone. */
    public AccessPolicy withInitiators(List<InitiatorPattern> allowed) {
        return new AccessPolicy(secrets, insecure, allowed, addresses);
    }

    /** The same, from these addresses alone. */
    public AccessPolicy withAddresses(List<AddressRange> allowed) {
        return new AccessPolicy(secrets, insecure, initiators, allowed);
    }

    /**
     * Makes sure that nobody listens to the world by mistake.
     *
     * @throws IllegalArgumentException if other machines could reach the address and nobody would have to authenticate
     */
    public void checkListen(InetSocketAddress listen) {
        InetAddress address = listen.getAddress();
        if (secrets == null && !insecure && address != null && !address.isLoopbackAddress()) {
            throw new IllegalArgumentException("listen=" + TargetAddress.text(listen)
                + " can be reached from other machines, and nobody would have to authenticate: --secrets FILE says who may"
                + " log in, or --insecure lets everyone in");
        }
    }

    /** Whether a connection from there may be. */
    public boolean admits(InetAddress address) {
        return addresses.isEmpty() || addresses.stream().anyMatch(range -> range.contains(address));
    }

    /** Whether an initiator, by its normalized name, may log in. */
    public boolean admits(String initiatorName) {
        return initiators.isEmpty() || initiators.stream().anyMatch(pattern -> pattern.matches(initiatorName));
    }

    @Override
    public String toString() {
        String authentication = secrets != null ? "CHAP, " + secrets : insecure ? "none, insecure" : "none";
        return "authentication=(" + authentication + ") allowInitiators=" + initiators + " allowAddresses=" + addresses;
    }
}
