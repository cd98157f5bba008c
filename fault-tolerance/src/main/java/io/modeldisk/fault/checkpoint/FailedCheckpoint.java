package io.modeldisk.fault.checkpoint;

import io.modeldisk.platform.files.DurableFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A checkpoint that a shard cannot write. Shard 0 deletes its folder. Another shard tells shard 0 to do so.
 *
 * @param folder the folder of the checkpoint
 * @param shard the number of the shard
 * @param shards the number of shards
 * @param reason why the shard cannot write
 */
record FailedCheckpoint(StateDirectory.Folder folder, int shard, int shards, String reason) {
    private static final Logger LOG = LogManager.getLogger(FailedCheckpoint.class);

    /**
     * Deletes the folder, or tells shard 0. If this fails, the caller must try again later: the folder may be what keeps the disk
     * full, and no other checkpoint begins before it is deleted.
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
