package io.modeldisk.fault.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.platform.files.DurableFiles;
import io.modeldisk.platform.files.PrivateFiles;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The directory with the checkpoints of one model, which all shards of the model share. The folder of a checkpoint has the name
 * {@code checkpoint-NUMBER}. While the shards write a checkpoint, its name is {@code checkpoint-NUMBER.ID.partial} with the
 * {@link CheckpointFacts#id} of the checkpoint, so a process of shard 0 that was paused does not mistake a folder of its
 * successor with the same number for its own.
 *
 * <p>Several processes use the directory at the same time. Files and folders get their final names by a rename, after their
 * contents are on disk.
 */
final class StateDirectory {
    // Earlier versions wrote the folder of a partial checkpoint without the id.
    private static final Pattern NAME = Pattern.compile("checkpoint-(\\d{6,12})((?:\\.[0-9a-f]{1,16})?\\.partial)?");
    private static final Pattern COMPLETE = Pattern.compile("checkpoint-\\d{6,12}");
    private static final Pattern LEFT = Pattern.compile("checkpoint-\\d{6,12}(\\..*)?\\.(partial|new|deleted)");
    private static final String DELETED = ".deleted";
    private static final String WANTED = "checkpoint-wanted-by-";
    private static final String PARTIAL = ".partial";
    private static final String IDENTITY = "identity";
    private static final int IDENTITY_READS = 100;
    private static final long IDENTITY_PAUSE_MS = 50;
    private static final Pattern IDENTITY_TEXT = Pattern.compile("[0-9a-f]{32}");

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Logger LOG = LogManager.getLogger(StateDirectory.class);

    private final Path path;

    /**
     * Opens the directory. Creates it if it does not exist.
     *
     * @throws IOException if the directory cannot be created or written, or contains a symbolic link instead of a checkpoint; the
     *     message names the path
     */
    static StateDirectory open(Path path) throws IOException {
        try {
            DurableFiles.createDirectories(path);
        } catch (FileAlreadyExistsException e) {
            throw new IOException("--state " + path + " is not a directory", e);
        } catch (IOException e) {
            throw new IOException("--state " + path + " cannot be created: " + e, e);
        }
        if (!Files.isWritable(path)) {
            throw new IOException("--state " + path + " is not writable for this user");
        }
        StateDirectory state = new StateDirectory(path.toRealPath());
        state.refuseLinks();
        return state;
    }

    /**
     * Refuses a symbolic link with the name of a checkpoint. Links are not followed, and a shard that ignored such a link would
     * start from older weights without a message.
     */
    private void refuseLinks() throws IOException {
        try (Stream<Path> entries = Files.list(path)) {
            for (Path entry : entries.toList()) {
                if (COMPLETE.matcher(entry.getFileName().toString()).matches() && Files.isSymbolicLink(entry)) {
                    PrivateFiles.checkDirectory(entry);
                }
            }
        }
    }

    private StateDirectory(Path path) {
        this.path = path;
    }

    Path path() {
        return path;
    }

    /** Returns the text that identifies the directory, the same for all processes that use it. */
    String identity() throws IOException {
        Path file = path.resolve(IDENTITY);
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            createIdentity(file);
        }
        // On a file system without hard links, another shard might have created the file but not have written it yet.
        for (int attempt = 0; attempt < IDENTITY_READS; attempt++) {
            String text = new String(PrivateFiles.readAllBytes(file), StandardCharsets.US_ASCII).strip();
            if (IDENTITY_TEXT.matcher(text).matches()) {
                // The inode number distinguishes this directory from a copy, which contains the same text in another file.
                return text + "-" + Files.getAttribute(file, "unix:ino", LinkOption.NOFOLLOW_LINKS);
            }
            try {
                NanoClock.SYSTEM.sleep(IDENTITY_PAUSE_MS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                throw Interruption.whileIt("waited for another shard to write " + file);
            }
        }
        throw new IOException(file + " is damaged; stop all shards, and delete the file");
    }

    /** Creates the file with its contents. Several processes can do this at the same time; one of them succeeds. */
    private void createIdentity(Path file) throws IOException {
        String text = UUID.randomUUID().toString().replace("-", "");
        Path own = path.resolve("." + IDENTITY + "." + text);
        DurableFiles.write(own, (text + "\n").getBytes(StandardCharsets.US_ASCII));
        try {
            Files.createLink(file, own);
        } catch (FileAlreadyExistsException e) {
            LOG.debug("another shard has just chosen the identity of {}", path);
        } catch (FileSystemException | UnsupportedOperationException e) {
            LOG.debug("{} has no hard links", path, e);
            createInPlace(file, text);
        } finally {
            Files.delete(own);
        }
        DurableFiles.sync(path);
    }

    private static void createInPlace(Path file, String text) throws IOException {
        try (FileChannel channel = PrivateFiles.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap((text + "\n").getBytes(StandardCharsets.US_ASCII)));
            channel.force(true);
        } catch (FileAlreadyExistsException e) {
            LOG.debug("another shard has just chosen the identity of {}", file);
        }
    }

    /** Writes a value as JSON to a file of the directory. */
    void write(String name, Object value) throws IOException {
        DurableFiles.write(path.resolve(name), JSON.writeValueAsBytes(value));
    }

    /** Reads a file that {@link #write} has written. Returns null if the file does not exist. */
    <T> T read(String name, Class<T> type) throws IOException {
        Path file = path.resolve(name);
        try {
            return JSON.readValue(PrivateFiles.readAllBytes(file), type);
        } catch (NoSuchFileException e) {
            return null;
        } catch (JsonProcessingException e) {
            throw new IOException(file + " cannot be read: " + e.getOriginalMessage(), e);
        }
    }

    /** The folder of a checkpoint, which can be incomplete. */
    record Folder(Path path, long number, boolean partial) {
        /** Returns the path that this folder has when the checkpoint is complete. */
        Path complete() {
            return partial ? path.resolveSibling(name(number)) : path;
        }

        Path file(String name) {
            return path.resolve(name);
        }

        /** Returns whether a file of the folder exists. */
        boolean has(String name) {
            return Files.exists(file(name), LinkOption.NOFOLLOW_LINKS);
        }

        CheckpointFacts facts() throws IOException {
            return CheckpointFacts.fromJson(PrivateFiles.readAllBytes(file(CheckpointFacts.FILE)));
        }
    }

    /** Returns the folder of the complete checkpoint with this number. */
    Path folder(long number) {
        return path.resolve(name(number));
    }

    private static String name(long number) {
        return PlainText.format("checkpoint-%06d", number);
    }

    /** Returns the complete checkpoints, the newest first. */
    List<Folder> complete() throws IOException {
        return folders().stream().filter(folder -> !folder.partial()).toList();
    }

    /** Returns the newest checkpoint that the shards are writing now; null if there is none. */
    Folder partial() throws IOException {
        return folders().stream().filter(Folder::partial).findFirst().orElse(null);
    }

    private List<Folder> folders() throws IOException {
        List<Folder> found = new ArrayList<>();
        try (Stream<Path> entries = Files.list(path)) {
            for (Path entry : entries.toList()) {
                Matcher name = NAME.matcher(entry.getFileName().toString());
                if (name.matches() && PrivateFiles.isDirectory(entry)) {
                    found.add(new Folder(entry, Long.parseLong(name.group(1)), name.group(2) != null));
                }
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        // All shards sort in the same way, even if a process that was paused has added a folder with the same number.
        found.sort(Comparator.comparingLong(Folder::number).reversed().thenComparing(Folder::path));
        return found;
    }

    /**
     * Creates the folder of the next checkpoint, with its facts. Only one process may call this method.
     *
     * @param lastNumber the highest number that this process has used; the new number is higher
     */
    Folder request(CheckpointFacts facts, long lastNumber) throws IOException {
        List<Folder> folders = folders();
        long number = Math.max(lastNumber, folders.isEmpty() ? 0 : folders.getFirst().number()) + 1;
        String name = name(number) + "." + Long.toHexString(facts.id());
        Path building = PrivateFiles.createDirectory(path.resolve(name + ".new"));
        Path partial = path.resolve(name + PARTIAL);
        try {
            DurableFiles.write(building.resolve(CheckpointFacts.FILE), facts.toJson());
            Files.move(building, partial, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            deleteAfter(e, building);
            throw e;
        }
        return new Folder(partial, number, true);
    }

    private static void deleteAfter(IOException failure, Path folder) {
        try {
            delete(folder);
        } catch (IOException e) {
            // The next start of shard 0 deletes the folder.
            failure.addSuppressed(e);
        }
    }

    /**
     * Gives a folder its final name. Only one process may call this method.
     *
     * @param index the contents of the tensor index
     */
    void publish(Folder folder, byte[] index) throws IOException {
        DurableFiles.write(folder.file(WeightFiles.INDEX), index);
        DurableFiles.sync(folder.path());
        Files.move(folder.path(), folder.complete(), StandardCopyOption.ATOMIC_MOVE);
        DurableFiles.sync(path);
    }

    /** Requests a checkpoint from shard 0. */
    void askForCheckpoint(int shard) throws IOException {
        Path wanted = path.resolve(WANTED + shard);
        if (!Files.exists(wanted, LinkOption.NOFOLLOW_LINKS)) {
            PrivateFiles.createFile(wanted);
        }
    }

    /** Returns whether another shard has requested a checkpoint since the last call. Only shard 0 may call this method. */
    boolean takeRequests() throws IOException {
        boolean found = false;
        try (DirectoryStream<Path> requests = Files.newDirectoryStream(path, WANTED + "*")) {
            for (Path request : requests) {
                found |= !PrivateFiles.isDirectory(request) && Files.deleteIfExists(request);
            }
        }
        return found;
    }

    /** Deletes the folders that a process left when it was killed. Only one process may call this method. */
    void cleanUp() throws IOException {
        try (Stream<Path> entries = Files.list(path)) {
            for (Path entry : entries.toList()) {
                if (LEFT.matcher(entry.getFileName().toString()).matches()) {
                    delete(entry);
                    // Deletes the entry if it is a file or a link, although no process of modeldisk creates one with such a name.
                    Files.deleteIfExists(entry);
                }
            }
        }
    }

    /** Deletes all complete checkpoints except the newest {@code keep}. */
    void prune(int keep) throws IOException {
        for (Folder folder : complete().stream().skip(keep).toList()) {
            delete(folder.path());
        }
    }

    /** Deletes a folder. Does nothing if the folder does not exist. */
    static void delete(Path folder) throws IOException {
        if (!PrivateFiles.isDirectory(folder)) {
            return;
        }
        // The folder is renamed first, so no process mistakes a partly deleted folder for a checkpoint.
        Path doomed = folder;
        if (!folder.toString().endsWith(DELETED)) {
            doomed = folder.resolveSibling(folder.getFileName() + "."
                + Long.toHexString(ThreadLocalRandom.current().nextLong()) + DELETED);
            Files.move(folder, doomed, StandardCopyOption.ATOMIC_MOVE);
        }
        PrivateFiles.delete(doomed);
    }
}
