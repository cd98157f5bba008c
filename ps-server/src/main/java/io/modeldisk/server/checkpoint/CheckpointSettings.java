package io.modeldisk.server.checkpoint;

import java.nio.file.Path;

/**
 * The settings of checkpoints.
 *
 * @param state the directory of the checkpoints, which all shards of the model share
 * @param period the period of the checkpoints
 * @param keep the number of checkpoints that stay in the directory, at least 1
 */
public record CheckpointSettings(Path state, CheckpointPeriod period, int keep) {}
