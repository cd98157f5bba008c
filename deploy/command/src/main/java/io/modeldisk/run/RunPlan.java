package io.modeldisk.run;

import java.nio.file.Path;
import java.util.List;

/**
 * The processes that a run starts, and their options.
 *
 * @param program the path of the modeldisk command
 * @param learners the number of learners, at least 1
 * @param shards the number of shards, at least 1
 * @param elastic true if the other learners continue when a learner fails
 * @param keep true if the shards and mounts continue when the learners have ended
 * @param state the directory of the checkpoints; null if the run keeps none
 * @param model the name of the model
 * @param modelGiven true if the options of the shards already name or describe the model, so no learner hands it over
 * @param serve the options of each shard
 * @param first additional options for shard 0 only
 * @param mount the options of each mount
 * @param command the program of the learners and its arguments
 */
public record RunPlan(String program, int learners, int shards, boolean elastic, boolean keep, Path state, String model,
    boolean modelGiven, List<String> serve, List<String> first, List<String> mount, List<String> command) {}
