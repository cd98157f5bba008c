package io.modeldisk.protocol.login;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** A right of the holder of a secret. Login, discovery, and questions for facts and status need no right. */
public enum Right {
    /** To join, push and pull on LUN 0, and to read LUN 1. */
    LEARN,
    /** To read and write LUN 1. */
    RAW,
    /** To ask for facts, counters and status, as every holder may; the holder of this right only may do nothing else. */
    STATUS;

    /** All rights: those of every initiator of a shard without secrets. */
    public static final Set<Right> ALL = Set.of(values());

    /** The rights of a secret without {@code may=}: its holder trains, and cannot overwrite the weights. */
    public static final Set<Right> DEFAULT = Set.of(LEARN, STATUS);

    /**
     * The rights of a list, such as {@code learn,raw}.
     *
     * @throws IllegalArgumentException for an unknown word, with the word and the rights
     */
    public static Set<Right> parse(String list) {
        Set<Right> rights = EnumSet.noneOf(Right.class);
        for (String word : list.split(",", -1)) {
            rights.add(Arrays.stream(values()).filter(right -> right.toString().equals(word)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("'" + word + "' must be one of "
                    + Arrays.stream(values()).map(Right::toString).collect(Collectors.joining(", ")))));
        }
        return Set.copyOf(rights);
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
