package io.modeldisk.bench.training;

import io.modeldisk.platform.Arguments;

/**
 * Programs that follow the model while learners train.
 *
 * @param count the number of followers
 * @param reads true if each follower reads all weights once a second; false if it only waits for versions
 */
public record Followers(int count, boolean reads) {
    private static final String WAIT = ":wait";

    /**
     * Parses a number, or a number followed by {@code :wait} for followers that read nothing.
     *
     * @throws IllegalArgumentException if the text has another form, or the number is not from 0 to 100
     */
    public static Followers parse(String text) {
        boolean reads = !text.endsWith(WAIT);
        String number = reads ? text : text.substring(0, text.length() - WAIT.length());
        Arguments.require(number.matches("\\d{1,2}|100"),
            "--followers " + text + " must be a number from 0 to 100, such as 16 or 16:wait");
        return new Followers(Integer.parseInt(number), reads);
    }

    @Override
    public String toString() {
        return count + (reads ? "" : WAIT);
    }
}
