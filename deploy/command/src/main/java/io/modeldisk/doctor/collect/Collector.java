package io.modeldisk.doctor.collect;

import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Writes files to a zip archive that only its owner can read. All files together may take {@value #SECONDS} s and have
 * {@value #TOTAL_MIB} MiB, each of them at most 1 MiB. What cannot be read is listed, with the reason, in the last file,
 * {@value #CONTENTS}.
 */
final class Collector {
    /** The ending that the name of the archive must have. */
    static final String SUFFIX = ".zip";
    /** The file of the archive that lists the others. */
    static final String CONTENTS = "contents.txt";

    private static final int SECONDS = 30;
    private static final int THREADS = 8;
    private static final int TOTAL_MIB = 32;
    private static final String FOLDER = "modeldisk-doctor/";

    private final Masking masking;
    private final Set<String> names = new HashSet<>();
    private final List<String> written = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();
    private long leftBytes = (long) TOTAL_MIB << 20;

    Collector(Masking masking) {
        this.masking = masking;
    }

    /**
     * Writes the archive.
     *
     * @return what could not be read, with the reasons
     * @throws IOException if the archive exists already or cannot be written; then no archive is left
     */
    List<String> write(Path archive, List<Item> items) throws IOException {
        OutputStream file = create(archive);
        // A read of a mount whose process has stopped may not return. Such a thread must not keep this process alive.
        ExecutorService readers = Executors.newFixedThreadPool(THREADS,
            Thread.ofPlatform().daemon().name("collect-", 0).factory());
        try (ZipOutputStream zip = new ZipOutputStream(file)) {
            List<Future<String>> texts = items.stream().map(item -> readers.submit(item.text())).toList();
            long deadlineNs = NanoClock.SYSTEM.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            for (int i = 0; i < items.size(); i++) {
                put(zip, items.get(i).name(), texts.get(i), deadlineNs);
            }
            add(zip, CONTENTS, contents());
        } catch (IOException | RuntimeException e) {
            Files.delete(archive);
            throw e;
        } finally {
            readers.shutdownNow();
        }
        return missing;
    }

    private static OutputStream create(Path archive) throws IOException {
        if (!archive.toString().endsWith(SUFFIX)) {
            throw new IOException(
                "--collect " + archive + " must end with " + SUFFIX + ", because it will be a zip archive");
        }
        try {
            Files.createFile(archive,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (FileAlreadyExistsException e) {
            throw new IOException("--collect " + archive + " exists already; choose another name", e);
        } catch (IOException e) {
            throw new IOException("--collect " + archive + " cannot be created: " + e.getMessage(), e);
        }
        return Files.newOutputStream(archive, StandardOpenOption.WRITE);
    }

    private void put(ZipOutputStream zip, String name, Future<String> text, long deadlineNs) throws IOException {
        try {
            long leftNs = Math.max(0, deadlineNs - NanoClock.SYSTEM.nanoTime());
            add(zip, name, Text.shorten(masking.mask(text.get(leftNs, TimeUnit.NANOSECONDS))));
        } catch (TimeoutException e) {
            missing.add(name + ": the doctor waits at most " + SECONDS + " s for all files");
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            missing.add(name + ": " + masking.mask(cause.getMessage() == null ? cause.toString() : cause.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the doctor was interrupted");
        }
    }

    private void add(ZipOutputStream zip, String name, String text) throws IOException {
        if (!names.add(name)) {
            missing.add(name + ": another file has this name");
            return;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > leftBytes) {
            missing.add(name + ": the archive would have more than " + TOTAL_MIB + " MiB");
            return;
        }
        leftBytes -= bytes.length;
        zip.putNextEntry(new ZipEntry(FOLDER + name));
        zip.write(bytes);
        zip.closeEntry();
        written.add(name + ", " + bytes.length + " bytes");
    }

    private String contents() {
        return PlainText.format("""
            What modeldisk doctor has collected for a report of an error. Secrets files are never part of it. Values of names
            that sound like a secret, the user info of URLs, private keys, and all copies of the secrets in the secrets files
            that this user can read are replaced by %s. Addresses, names of hosts, users, models and files are not: look at the
            files before you publish them.

            %s

            Not collected:
            %s
            """, Masking.MASK, String.join("\n", written),
            missing.isEmpty() ? "-" : String.join("\n", missing));
    }
}
