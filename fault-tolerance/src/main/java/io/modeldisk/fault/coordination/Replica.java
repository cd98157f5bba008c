package io.modeldisk.fault.coordination;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;

/**
 * The contents of the znode of a process that serves a shard or waits to serve it.
 *
 * @param address the address at which the process serves or will serve ({@code HOST:PORT}); null if it is not known yet
 * @param host the name of the host
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Replica(String address, String host) {}
