package io.modeldisk.admin.overview;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The samples of the last minutes in memory of a fixed size. A sample has a value of each {@link Series}, and the rate of each
 * learner; NaN if a value is not known. Thread-safe.
 */
public final class History {
    /** The number of samples that are kept: ten minutes, at one sample a second. */
    public static final int SAMPLES = 600;

    /** The number of learners whose rates are kept. */
    public static final int LEARNERS = 32;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final MathContext DIGITS = new MathContext(4);

    private final long[] atMs = new long[SAMPLES];
    private final float[][] values = new float[Series.values().length][SAMPLES];
    private final float[][] rates = new float[LEARNERS][SAMPLES];
    /** The row in {@link #rates} of each learner. */
    private final Map<String, Integer> rows = new LinkedHashMap<>();
    /** The number of samples that were added, also those that were overwritten. */
    private long added;

    /**
     * Adds a sample, in place of the oldest one if there is no room.
     *
     * @param sample a value for each {@link Series}, in the order of the enum
     * @param learners the rate of each learner
     */
    synchronized void add(long nowMs, double[] sample, Map<String, Double> learners) {
        int at = (int) (added % SAMPLES);
        atMs[at] = nowMs;
        for (int i = 0; i < sample.length; i++) {
            values[i][at] = (float) sample[i];
        }
        for (float[] row : rates) {
            row[at] = Float.NaN;
        }
        learners.forEach((learner, rate) -> {
            Integer row = row(learner, learners);
            if (row != null) {
                rates[row][at] = rate.floatValue();
            }
        });
        added++;
    }

    /** Returns the row of a learner: a free row, or that of a learner that has left. Null if there is none. */
    private Integer row(String learner, Map<String, Double> present) {
        Integer row = rows.get(learner);
        if (row == null && rows.size() < LEARNERS) {
            row = rows.size();
        } else if (row == null) {
            String left = rows.keySet().stream().filter(each -> !present.containsKey(each)).findFirst().orElse(null);
            row = rows.remove(left);
        }
        if (row != null && rows.putIfAbsent(learner, row) == null) {
            Arrays.fill(rates[row], Float.NaN);
        }
        return row;
    }

    /** Returns all samples as JSON, as {@link #newest(int)} does. */
    public ObjectNode newest() {
        return newest(SAMPLES);
    }

    /**
     * Returns the newest samples as JSON: the number of the first one since the start, the time of each in milliseconds since
     * 1970, and an array for each series and each learner. A value that is not known is null.
     */
    public synchronized ObjectNode newest(int samples) {
        long first = Math.max(0, added - Math.min(samples, SAMPLES));
        ObjectNode json = JSON.createObjectNode();
        json.put("first", first);
        ArrayNode times = json.putArray("at");
        for (long i = first; i < added; i++) {
            times.add(atMs[(int) (i % SAMPLES)]);
        }
        for (Series series : Series.values()) {
            put(json.putArray(series.key()), values[series.ordinal()], first);
        }
        ObjectNode learners = json.putObject("learners");
        rows.forEach((learner, row) -> put(learners.putArray(learner), rates[row], first));
        return json;
    }

    private void put(ArrayNode array, float[] row, long first) {
        for (long i = first; i < added; i++) {
            float value = row[(int) (i % SAMPLES)];
            if (Float.isFinite(value)) {
                array.add(new BigDecimal(value, DIGITS).stripTrailingZeros());
            } else {
                array.addNull();
            }
        }
    }
}
