package io.modeldisk.command;

/** Counts with their noun. */
public final class Plural {
    private Plural() {}

    /** A number with its noun, as "1 shard" and "2 shards". */
    public static String counted(int count, String thing) {
        return count + " " + thing + (count == 1 ? "" : "s");
    }
}
