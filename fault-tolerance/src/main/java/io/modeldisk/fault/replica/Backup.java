package io.modeldisk.fault.replica;

import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.protocol.login.TargetAddress;
import java.net.InetSocketAddress;

/**
 * A process that is a backup of a shard.
 *
 * @param name the name of the process, which the coordinator knows
 * @param address the address at which it serves
 */
public record Backup(String name, InetSocketAddress address) {
    /**
     * Returns the backup at {@code HOST[:PORT]}. If the host is unknown, its address is unresolved.
     *
     * @throws IllegalArgumentException if the address has another form
     */
    public static Backup at(String name, String address) {
        return new Backup(name, TargetAddress.parse(address, TargetContext.DEFAULT_PORT));
    }
}
