package io.modeldisk.fault.coordination;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.modeldisk.platform.text.Plural;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;

/**
 * The contents of the znode {@code model}: what all processes of a model must have in common.
 *
 * @param id a random number, which changes when all processes of the model were stopped and are started with other options
 * @param shards the number of shards
 * @param options the options that describe the model, by name
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ModelRecord(String id, int shards, Map<String, String> options) {
    /** Copies the options. */
    public ModelRecord {
        options = options == null ? Map.of() : Map.copyOf(options);
    }

    boolean isSameModel(ModelRecord other) {
        return shards == other.shards && options.equals(other.options);
    }

    /** Returns the first difference between this model and the options of a process, for messages. */
    String difference(ModelRecord of) {
        if (shards != of.shards) {
            return "this process has " + Plural.counted(of.shards, "shard") + ", but the model has " + shards;
        }
        TreeSet<String> names = new TreeSet<>(options.keySet());
        names.addAll(of.options.keySet());
        String name = names.stream().filter(each -> !Objects.equals(options.get(each), of.options.get(each)))
            .findFirst().orElseThrow();
        return "its " + name + " is " + of.options.get(name) + " in this process, but " + options.get(name)
            + " in the model";
    }
}
