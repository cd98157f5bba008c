package io.modeldisk.command;

/** Formats a number with its noun. */
public final class Plural {
    private Plural() {}

    /** Returns a number with its noun, such as "1 shard" or "2 shards". */
    public static String counted(int count, String thing) {
        return count + " " + thing + (count == 1 ? "" : "s");
    }
}
