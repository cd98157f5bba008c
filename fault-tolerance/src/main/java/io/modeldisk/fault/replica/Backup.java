package io.modeldisk.fault.replica;

import java.net.InetSocketAddress;

/**
 * A process that is a backup of a shard.
 *
 * @param name the name of the process, which the coordinator knows
 * @param address the address at which it serves
 */
public record Backup(String name, InetSocketAddress address) {}
