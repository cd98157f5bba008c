package io.modeldisk.protocol.dialect;

import io.modeldisk.platform.Arguments;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The rule that determines which weights a pull is allowed to return. The text of a mode is {@code asp}, {@code bsp}, or
 * {@code ssp:} and a number of rounds.
 *
 * @param kind the kind of the mode
 * @param stalenessRounds the maximum number of rounds that other learners may lag behind the learner that pulls; 0 unless the
 *     mode is ssp
 */
public record ConsistencyMode(Kind kind, int stalenessRounds) {
    /** The kind of a mode, without its staleness. */
    public enum Kind {
        /** Asynchronous: a push is applied at once, and a pull never waits. */
        ASP,
        /** Stale synchronous: a push is applied at once, and a pull waits for learners that lag by more than the staleness. */
        SSP,
        /** Bulk synchronous: the gradients of a round are applied together, and a pull waits until they are applied. */
        BSP
    }

    /** The maximum staleness in rounds. */
    public static final int MAX_STALENESS_ROUNDS = 1_000_000;

    private static final Pattern SSP_TEXT = Pattern.compile("ssp(?::(.*))?", Pattern.DOTALL);
    private static final Pattern DIGITS = Pattern.compile("\\d{1,7}");

    /**
     * Parses the text of a mode.
     *
     * @throws IllegalArgumentException if the text is not a mode; the message states the correct form
     */
    public static ConsistencyMode parse(String text) {
        Matcher ssp = SSP_TEXT.matcher(text);
        if (ssp.matches()) {
            return parseSsp(text, ssp.group(1));
        }
        return switch (text) {
            case "asp" -> new ConsistencyMode(Kind.ASP, 0);
            case "bsp" -> new ConsistencyMode(Kind.BSP, 0);
            default -> throw new IllegalArgumentException(
                "consistency=" + text + " must be asp, bsp or ssp:S, where S is a number of rounds");
        };
    }

    private static ConsistencyMode parseSsp(String text, String rounds) {
        boolean isNumber = rounds != null && DIGITS.matcher(rounds).matches();
        int staleness = isNumber ? Integer.parseInt(rounds) : Integer.MAX_VALUE;
        Arguments.require(staleness <= MAX_STALENESS_ROUNDS,
            "consistency=" + text + " must name the number of rounds that other learners may lag behind, from 0 to "
                + MAX_STALENESS_ROUNDS + ", such as ssp:3");
        return new ConsistencyMode(Kind.SSP, staleness);
    }

    /** Returns whether the gradients of all learners are applied together, as one update for each round. */
    public boolean appliesWholeRounds() {
        return kind == Kind.BSP;
    }

    /** Returns the shortest text that {@link #parse} accepts for this mode. */
    @Override
    public String toString() {
        return switch (kind) {
            case ASP -> "asp";
            case SSP -> "ssp:" + stalenessRounds;
            case BSP -> "bsp";
        };
    }
}
