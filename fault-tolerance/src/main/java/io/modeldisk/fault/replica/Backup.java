package io.modeldisk.fault.replica;

import java.net.InetSocketAddress;

/**
 * A process that is a backup of a shard.
 *
 * @param name the name under which the process is registered at the coordinator
 * @param address the address at which it serves
 */
public record Backup(String name, InetSocketAddress address) {}
