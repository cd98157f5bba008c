package io.modeldisk.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** The subject of an {@link AdminServer}: the process of a shard or of a mount. Thread-safe. */
public interface AdminSubject {
    /**
     * Returns null if the shard serves learners or the mount reaches all its shards, and otherwise the reason in one line. Takes
     * at most a few seconds.
     */
    String obstacle();

    /**
     * Returns the status as in the status.json of a mount: the members {@code model} and {@code shards}, and {@code mount} if the
     * process is a mount. Members whose values are unknown at the moment are absent; {@code shards} is an object with the member
     * {@code error} if the shards do not answer. Takes at most a few seconds.
     */
    ObjectNode status();
}
