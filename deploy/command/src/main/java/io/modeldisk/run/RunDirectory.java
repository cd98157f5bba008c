package io.modeldisk.run;

import java.io.IOException;
import io.modeldisk.platform.linux.Processes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Objects;

/**
 * The directory of a run: the mounts, the logs, and the files with which the run and its learners notify each other. The
 * environment variable {@value #VARIABLE} of a learner contains its path.
 */
final class RunDirectory {
    /**
     * The environment variable with the path of the directory. For a shard, the value ends with {@code /shards}, and for a
     * mount with {@code /mounts}, so the clean-up can find the processes of each kind, and their children.
     */
    static final String VARIABLE = "MODELDISK_RUN";

    private final Path path;

    private RunDirectory(Path path) {
        this.path = path;
    }

    /** Creates an empty directory, to which only this user has access, for temporary files. */
    static RunDirectory create() throws IOException {
        Path parent = Path.of(Objects.requireNonNullElse(Processes.environment("TMPDIR"), "/tmp"));
        try {
            return new RunDirectory(Files.createTempDirectory(parent, "modeldisk-run.").toRealPath());
        } catch (IOException e) {
            throw new IOException("the run cannot create a directory in " + parent
                + "; set TMPDIR to a directory in which this user can write", e);
        }
    }

    Path path() {
        return path;
    }

    Path file(String name) {
        return path.resolve(name);
    }

    /** The directory on which the model is mounted for a learner. */
    Path mount(int rank) {
        return path.resolve("mount-" + rank);
    }

    /** The file of the model that the learner of rank 0 provides. It is renamed into place when it is complete. */
    Path model() {
        return path.resolve("model.safetensors");
    }

    /** Returns whether the program of this rank has created its {@code Learner}. */
    boolean hasJoined(int rank) {
        return Files.exists(path.resolve("learner-" + rank));
    }

    /** Tells the learners that the model is mounted. */
    void sayReady() throws IOException {
        write("ready", "");
    }

    /** Tells the learners that the run has failed, and why. */
    void sayFailed(String reason) throws IOException {
        write("failed", reason);
    }

    private void write(String name, String text) throws IOException {
        Path part = path.resolve(name + ".part");
        Files.writeString(part, text);
        Files.move(part, path.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }
}
