package io.modeldisk.admin;

/**
 * The health of a process. A healthy shard serves learners, a healthy mount reaches all shards.
 *
 * @param ok whether it can
 * @param words one word if it can, else the reason in one line
 */
public record Health(boolean ok, String words) {
    /** The process can do what it is for. */
    public static final Health OK = new Health(true, "ok");

    /** Returns the health of a process that cannot do what it is for. */
    public static Health not(String reason) {
        return new Health(false, reason);
    }
}
