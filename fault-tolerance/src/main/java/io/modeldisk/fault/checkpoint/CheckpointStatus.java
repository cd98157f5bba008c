package io.modeldisk.fault.checkpoint;

/**
 * The newest checkpoint of a shard, and the last failure.
 *
 * @param number the number of the newest complete checkpoint; 0 if there is none
 * @param id the random number of this checkpoint; 0 if there is none
 * @param path the folder of this checkpoint; null if there is none
 * @param round the round of this checkpoint
 * @param at the time of this checkpoint, in ISO 8601; null if there is none
 * @param writing the number of the checkpoint that the shards are writing now; 0 if there is none
 * @param answered the number of requests ({@link Checkpointer#request}) that have been fulfilled or have failed
 * @param failure the reason why the last attempt failed; null if it has not failed
 */
public record CheckpointStatus(
    long number, long id, String path, long round, String at, long writing, long answered, String failure) {
    /** The status of a shard that has no checkpoint. */
    public static final CheckpointStatus NONE = new CheckpointStatus(0, 0, null, 0, null, 0, 0, null);

    CheckpointStatus completed(StateDirectory.Folder folder, CheckpointFacts facts, long requests) {
        return new CheckpointStatus(folder.number(), facts.id(), folder.complete().toString(), facts.round(),
            facts.at(), 0,
            requests,
            null);
    }

    CheckpointStatus writing(long next) {
        return new CheckpointStatus(number, id, path, round, at, next, answered, failure);
    }

    CheckpointStatus failed(String reason, long requests) {
        return new CheckpointStatus(number, id, path, round, at, 0, requests, reason);
    }
}
