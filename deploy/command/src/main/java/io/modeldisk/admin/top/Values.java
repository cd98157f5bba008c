package io.modeldisk.admin.top;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.units.ByteSize;

/** Values of an overview as text. A value that is not known is {@code -}. */
final class Values {
    private static final String UNKNOWN = "-";
    private static final int SECONDS_OF_MINUTE = 60;
    private static final int SECONDS_OF_HOUR = 3600;
    private static final int SECONDS_OF_DAY = 86_400;

    private Values() {}

    static String number(JsonNode value) {
        return value.isNumber() ? number(value.asDouble()) : UNKNOWN;
    }

    private static String number(double value) {
        double size = Math.abs(value);
        int decimals = size >= 100 || value == Math.rint(value) ? 0 : size >= 10 ? 1 : 2;
        return PlainText.format("%." + decimals + "f", value);
    }

    static String bytes(JsonNode value) {
        return value.isNumber() ? ByteSize.format(value.asDouble()) : UNKNOWN;
    }

    static String rate(JsonNode value) {
        return value.isNumber() ? bytes(value) + "/s" : UNKNOWN;
    }

    static String ms(JsonNode value) {
        if (!value.isNumber()) {
            return UNKNOWN;
        }
        return value.asDouble() < 1000 ? number(value) + " ms" : number(value.asDouble() / 1000) + " s";
    }

    static String duration(JsonNode seconds) {
        long s = seconds.asLong();
        if (!seconds.isNumber()) {
            return UNKNOWN;
        }
        return s < 2 * SECONDS_OF_MINUTE
            ? s + " s"
            : s < 2 * SECONDS_OF_HOUR
                ? s / SECONDS_OF_MINUTE + " min"
                : s < 2 * SECONDS_OF_DAY ? s / SECONDS_OF_HOUR + " h" : s / SECONDS_OF_DAY + " days";
    }

    static String range(JsonNode values) {
        if (!values.isObject()) {
            return UNKNOWN;
        }
        long min = values.path("min").asLong();
        long max = values.path("max").asLong();
        return min == max ? Long.toString(min) : min + " to " + max;
    }

    static String rounds(JsonNode value) {
        return value.isNumber() ? number(value) + (value.asDouble() == 1 ? " round" : " rounds") : UNKNOWN;
    }
}
