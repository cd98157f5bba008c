package io.modeldisk.fault.journal;

import io.modeldisk.platform.files.DurableFiles;
import io.modeldisk.platform.files.PrivateFiles;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ModelFacts;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The directory of the segments of one shard: {@code STATE/journal/shard-I-of-N}. The name of a segment is its number. Only the
 * process of the shard may change the directory.
 */
public final class JournalDirectory implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(JournalDirectory.class);
    private static final long LOCK_PERIOD_MS = 100;
    private static final String SUFFIX = ".records";
    private static final String UNFINISHED = ".new";
    private static final Pattern NAME = Pattern.compile("\\d{12}" + Pattern.quote(SUFFIX));

    private static final String LOCK = "lock";
    private static final Pattern FOLDER = Pattern.compile("shard-\\d{5}-of-\\d{5}");

    private final Path path;
    /** The channel of the locked file. The lock ends when the channel is closed. */
    private final FileChannel lock;

    private JournalDirectory(Path path, Duration wait, NanoClock clock) throws IOException {
        this.path = path;
        PrivateFiles.checkDirectory(path);
        this.lock = PrivateFiles.open(path.resolve(LOCK), StandardOpenOption.WRITE, StandardOpenOption.CREATE);
        try {
            awaitLock(wait, clock);
        } catch (InterruptedException e) {
            lock.close();
            throw Interruption.whileIt("waited for the journal " + path);
        } catch (IOException e) {
            lock.close();
            throw e;
        }
    }

    /** Tries to lock the file until the time has passed. Polls, because no event shows that a file is no longer locked. */
    private void awaitLock(Duration wait, NanoClock clock) throws IOException, InterruptedException {
        long endNs = clock.nanoTime() + wait.toNanos();
        boolean reported = false;
        while (!isLocked()) {
            if (clock.nanoTime() - endNs >= 0) {
                throw new IOException("another process uses the journal " + path + (wait.isZero()
                    ? "; a shard may be started only once"
                    : ", even after a wait of " + wait.toSeconds()
                        + " s; if it is a former primary that is paused, end it"));
            }
            if (!reported) {
                LOG.warn(
                    "another process, perhaps a former primary that is paused, uses the journal {}; this process waits at"
                        + " most {} s until it ends or resumes",
                    path, wait.toSeconds());
                reported = true;
            }
            clock.sleep(LOCK_PERIOD_MS, TimeUnit.MILLISECONDS);
        }
    }

    private boolean isLocked() throws IOException {
        try {
            return lock.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    /** The directory of the journals of all shards. */
    static Path journals(Path state) {
        return state.resolve("journal");
    }

    /**
     * Opens or creates the directory of a shard. Waits while another process uses it, see {@link JournalSettings#lockWait}.
     *
     * @throws IOException if the directory cannot be created, or another process still uses it after this wait
     */
    public static JournalDirectory open(JournalSettings settings, ModelFacts facts, NanoClock clock)
        throws IOException {
        Path path = journals(settings.state())
            .resolve(PlainText.format("shard-%05d-of-%05d", facts.shard(), facts.shards()));
        DurableFiles.createDirectories(path);
        PrivateFiles.checkDirectory(journals(settings.state()));
        return open(path, settings.lockWait(), clock);
    }

    /** Opens an existing directory that no other process uses. */
    static JournalDirectory open(Path path) throws IOException {
        return open(path, Duration.ZERO, NanoClock.SYSTEM);
    }

    private static JournalDirectory open(Path path, Duration wait, NanoClock clock) throws IOException {
        JournalDirectory directory = new JournalDirectory(path, wait, clock);
        try {
            for (Path left : directory.list(name -> name.endsWith(UNFINISHED))) {
                PrivateFiles.delete(left);
            }
            return directory;
        } catch (IOException e) {
            directory.close();
            throw e;
        }
    }

    /** Returns the directories of journals that were written when the model had another number of shards. */
    static List<Path> ofOtherNumber(Path state, int shards) throws IOException {
        try (Stream<Path> all = Files.list(journals(state))) {
            return all.filter(entry -> FOLDER.matcher(entry.getFileName().toString()).matches()
                && !entry.getFileName().toString().endsWith(PlainText.format("-of-%05d", shards))).sorted().toList();
        }
    }

    Path path() {
        return path;
    }

    /** Returns the files of the segments, the oldest first. */
    List<Path> segments() throws IOException {
        return list(name -> NAME.matcher(name).matches());
    }

    private List<Path> list(Predicate<String> wanted) throws IOException {
        try (Stream<Path> files = Files.list(path)) {
            return files.filter(file -> wanted.test(file.getFileName().toString())).sorted().toList();
        }
    }

    static long number(Path segment) {
        String name = segment.getFileName().toString();
        return Long.parseLong(name.substring(0, name.length() - SUFFIX.length()));
    }

    Path segment(long number) {
        return path.resolve(PlainText.format("%012d", number) + SUFFIX);
    }

    /**
     * Creates a segment. The file gets its name after its header is on disk, so each file with such a name has a header.
     *
     * @throws IOException if the segment might not be on disk; the caller then deletes the file, which might already exist
     */
    FileChannel create(long number, SegmentHeader header) throws IOException {
        Path file = segment(number);
        Path building = path.resolve(file.getFileName() + UNFINISHED);
        FileChannel channel = PrivateFiles.open(building, StandardOpenOption.WRITE, StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING);
        try {
            ByteBuffer bytes = header.toBytes();
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
            Files.move(building, file, StandardCopyOption.ATOMIC_MOVE);
            sync();
            return channel;
        } catch (IOException e) {
            channel.close();
            try {
                Files.deleteIfExists(building);
            } catch (IOException left) {
                // The next start deletes the file.
                e.addSuppressed(left);
            }
            throw e;
        }
    }

    /** Deletes a segment. When this method returns, the deletion is on disk, so it survives a power failure. */
    void delete(Path segment) throws IOException {
        Files.deleteIfExists(segment);
        sync();
    }

    /** Deletes a directory without segments. */
    static void remove(Path path) throws IOException {
        Files.deleteIfExists(path.resolve(LOCK));
        Files.deleteIfExists(path);
        DurableFiles.sync(path.getParent());
    }

    /** Releases the lock of the directory. */
    @Override
    public void close() throws IOException {
        lock.close();
    }

    /** Writes the entries of the directory to disk. */
    void sync() throws IOException {
        DurableFiles.sync(path);
    }
}
