package io.modeldisk.command;

/** Counts of things in words. */
public final class Plural {
    private Plural() {}

    /** A number of things in words, as "1 shard" and "2 shards". */
    public static String counted(int count, String thing) {
        return count + " " + thing + (count == 1 ? "" : "s");
    }
}
