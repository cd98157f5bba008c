package io.modeldisk.fault.checkpoint;

import io.modeldisk.platform.files.DurableFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A checkpoint that a shard cannot write. Shard 0 then deletes the folder of the checkpoint. Any other shard reports the failure
 * to shard 0 by a file in the folder.
 *
 * @param folder the folder of the checkpoint
 * @param shard the number of the shard
 * @param shards the number of shards
 * @param reason the reason why the shard cannot write the checkpoint
 */
record FailedCheckpoint(StateDirectory.Folder folder, int shard, int shards, String reason) {
    private static final Logger LOG = LogManager.getLogger(FailedCheckpoint.class);

    /**
     * Deletes the folder, or reports the failure to shard 0. If this is not possible, the caller must try again later, because
     * the folder might fill the disk, and no other checkpoint begins before the folder is deleted.
     *
     * @return whether the folder is deleted, or shard 0 will delete it
     */
    boolean report() {
        try {
            if (shard == 0) {
                StateDirectory.delete(folder.path());
            } else if (Files.exists(folder.path())) {
                PartWriter.deleteUnfinished(folder, shard, shards);
                mark(folder.file(CheckpointRequests.FAILED + shard));
            }
            return true;
        } catch (IOException e) {
            LOG.debug("the failure cannot be recorded in {} now: {}", folder.path(), e.toString());
            return false;
        }
    }

    private void mark(Path file) throws IOException {
        try {
            DurableFiles.write(file, reason.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // A full disk often has room for an empty file.
            DurableFiles.write(file, new byte[0]);
        }
    }
}
