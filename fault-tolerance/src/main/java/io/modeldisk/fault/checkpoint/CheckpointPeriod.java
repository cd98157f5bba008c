package io.modeldisk.fault.checkpoint;

import io.modeldisk.platform.units.DurationText;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The time or the number of rounds from one checkpoint to the next.
 *
 * @param time the time; null if the period is a number of rounds
 * @param rounds the number of rounds; 0 if the period is a time
 */
public record CheckpointPeriod(Duration time, long rounds) {
    private static final Pattern ROUNDS = Pattern.compile("(\\d{1,15})\\s*rounds?");
    private static final Duration MIN_TIME = Duration.ofSeconds(1);

    /**
     * Parses a time such as {@code 60s}, or a number of rounds such as {@code 1000rounds}.
     *
     * @throws IllegalArgumentException if the text is neither, the time is below 1 s, or the number of rounds is 0
     */
    public static CheckpointPeriod parse(String text) {
        Matcher form = ROUNDS.matcher(text.strip());
        if (form.matches()) {
            long rounds = Long.parseLong(form.group(1));
            if (rounds == 0) {
                throw new IllegalArgumentException("'" + text + "' must be at least 1 round");
            }
            return new CheckpointPeriod(null, rounds);
        }
        Duration time = DurationText.parse(text);
        if (time.compareTo(MIN_TIME) < 0) {
            throw new IllegalArgumentException("'" + text + "' must be at least 1s");
        }
        return new CheckpointPeriod(time, 0);
    }

    @Override
    public String toString() {
        return time == null ? rounds + "rounds" : DurationText.format(time);
    }
}
