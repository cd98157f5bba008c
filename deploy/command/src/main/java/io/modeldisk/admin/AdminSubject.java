package io.modeldisk.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** The subject of an {@link AdminServer}: the process of a shard or of a mount. Thread-safe. */
public interface AdminSubject {
    /**
     * Returns the reason in one line why the process cannot do what it is for. Null if a shard serves learners, or if a mount
     * reaches all shards. Takes at most a few seconds.
     */
    String obstacle();

    /**
     * Returns the status as in the status.json of a mount: the members {@code model} and {@code shards}, and {@code mount} if the
     * process is a mount. Members that are not known at the moment are absent; {@code shards} is an object with the member
     * {@code error} if the shards do not answer. Takes at most a few seconds.
     */
    ObjectNode status();
}
