package io.modeldisk.protocol.login;

import io.modeldisk.platform.text.EnumNames;
import java.util.EnumSet;
import java.util.Set;

/** A right of the holder of a secret. Login, discovery, and reads of facts, counters and status need no right. */
public enum Right {
    /** Allows the holder to join, push and pull on LUN 0, and to read LUN 1. */
    LEARN,
    /** Allows the holder to read and write LUN 1. */
    RAW,
    /** Allows the holder, which is the primary of a shard, to write records to LUN 2 of a backup. */
    REPLICATE,
    /** Allows nothing beyond the operations that need no right: login, discovery, and reads of facts, counters and status. */
    STATUS;

    /** All rights. Every initiator has them on a shard without secrets. */
    public static final Set<Right> ALL = Set.of(values());

    /** The rights of a secret without {@code may=}: the holder can train but cannot overwrite the weights. */
    public static final Set<Right> DEFAULT = Set.of(LEARN, STATUS);

    /**
     * Parses a list of rights, such as {@code learn,raw}.
     *
     * @throws IllegalArgumentException if a word is unknown; the message contains the word and lists the rights
     */
    public static Set<Right> parse(String list) {
        Set<Right> rights = EnumSet.noneOf(Right.class);
        for (String word : list.split(",", -1)) {
            rights.add(EnumNames.parse(Right.class, "may", word));
        }
        return Set.copyOf(rights);
    }

    @Override
    public String toString() {
        return EnumNames.of(this);
    }
}
