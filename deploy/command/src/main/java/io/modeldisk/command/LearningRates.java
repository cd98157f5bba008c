package io.modeldisk.command;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The learning rates in the status of shards, as text. */
final class LearningRates {
    private LearningRates() {}

    /**
     * Returns the learning rate of the shards, such as {@code 0.1} or {@code 0.1; 0.01 from round 7 on}. Names the shards if they
     * have different rates. Returns null if no shard has a rate.
     */
    static String text(JsonNode shards) {
        Map<String, List<String>> rates = rates(shards);
        if (rates.size() < 2) {
            return rates.isEmpty() ? null : rates.keySet().iterator().next();
        }
        return rates.entrySet().stream()
            .map(each -> each.getKey() + " on shard " + String.join(", ", each.getValue()))
            .collect(Collectors.joining(", ", "", "; the rates differ, so set the rate again with `modeldisk lr`"));
    }

    /** Returns whether shards have different rates. */
    static boolean differ(JsonNode shards) {
        return rates(shards).size() > 1;
    }

    /** Returns the numbers of the shards that have a rate, for each rate. */
    private static Map<String, List<String>> rates(JsonNode shards) {
        Map<String, List<String>> rates = new LinkedHashMap<>();
        for (JsonNode shard : shards) {
            if (shard.has("learningRate")) {
                JsonNode change = shard.path("learningRateChange");
                String next = change.isObject()
                    ? "; " + change.path("rate").asText() + " from round " + change.path("fromRound").asLong() + " on"
                    : "";
                rates.computeIfAbsent(shard.path("learningRate").asText() + next, _ -> new ArrayList<>())
                    .add(shard.path("shard").asText());
            }
        }
        return rates;
    }
}
