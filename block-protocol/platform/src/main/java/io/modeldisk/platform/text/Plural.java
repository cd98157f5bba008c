package io.modeldisk.platform.text;

/** Formats a number with its noun. */
public final class Plural {
    private Plural() {}

    /** Returns a number with its noun, such as "1 shard" or "2 shards". The plural of the noun must end in s. */
    public static String counted(long count, String noun) {
        return count + " " + noun + (count == 1 ? "" : "s");
    }
}
