package io.modeldisk.platform.files;

import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Files of a directory that belongs to this program, such as the directory of {@code --state}. The last part of a path is never a
 * symbolic link that is followed, so nothing outside of the directory is read, changed or deleted. Other users cannot read what
 * is created. Thread-safe.
 */
public final class PrivateFiles {
    /** The permissions of a new file. */
    static final FileAttribute<Set<PosixFilePermission>> FILE = PosixFilePermissions
        .asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    /** The permissions of a new directory. */
    static final FileAttribute<Set<PosixFilePermission>> DIRECTORY = PosixFilePermissions
        .asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private PrivateFiles() {}

    /**
     * Opens a regular file. To open a FIFO would wait for its other end.
     *
     * @throws IOException if the path exists and is no regular file; the message says what it is
     */
    public static FileChannel open(Path file, OpenOption... options) throws IOException {
        try {
            BasicFileAttributes attributes = attributes(file);
            if (!attributes.isRegularFile()) {
                throw unexpected(file, attributes, "a regular file");
            }
        } catch (NoSuchFileException e) {
            // The call of open fails, or creates the file.
        }
        Set<OpenOption> all = new HashSet<>(List.of(options));
        all.add(LinkOption.NOFOLLOW_LINKS);
        return FileChannel.open(file, all, FILE);
    }

    /** Reads a regular file, see {@link #open}. */
    public static byte[] readAllBytes(Path file) throws IOException {
        try (FileChannel channel = open(file, StandardOpenOption.READ)) {
            return Channels.newInputStream(channel).readAllBytes();
        }
    }

    /** Creates an empty file. Fails if anything has this name, also a symbolic link that leads nowhere. */
    public static void createFile(Path file) throws IOException {
        Files.createFile(file, FILE);
    }

    /** Creates a directory. Fails if anything has this name. */
    public static Path createDirectory(Path directory) throws IOException {
        return Files.createDirectory(directory, DIRECTORY);
    }

    /** Returns whether the path is a directory, and no symbolic link. */
    public static boolean isDirectory(Path path) {
        return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * Checks that the path is a directory.
     *
     * @throws IOException if it is not; the message says what it is
     */
    public static void checkDirectory(Path path) throws IOException {
        BasicFileAttributes attributes = attributes(path);
        if (!attributes.isDirectory()) {
            throw unexpected(path, attributes, "a directory");
        }
    }

    /** Deletes a file, a link, or a directory with all that is in it. Does nothing if the path does not exist. */
    public static void delete(Path path) throws IOException {
        if (!isDirectory(path)) {
            Files.deleteIfExists(path);
            return;
        }
        try (DirectoryStream<Path> parent = Files.newDirectoryStream(path.toAbsolutePath().getParent())) {
            // On Linux, each directory stream is secure: it works with file descriptors instead of paths.
            delete((SecureDirectoryStream<Path>) parent, path.getFileName());
        }
    }

    private static void delete(SecureDirectoryStream<Path> parent, Path name) throws IOException {
        try (SecureDirectoryStream<Path> directory = parent.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS)) {
            for (Path entry : directory) {
                Path entryName = entry.getFileName();
                if (directory
                    .getFileAttributeView(entryName, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .readAttributes().isDirectory()) {
                    delete(directory, entryName);
                } else {
                    directory.deleteFile(entryName);
                }
            }
        }
        parent.deleteDirectory(name);
    }

    private static BasicFileAttributes attributes(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }

    private static IOException unexpected(Path path, BasicFileAttributes attributes, String wanted) {
        String kind = attributes.isSymbolicLink()
            ? "a symbolic link, which is not followed"
            : attributes.isDirectory()
                ? "a directory"
                : attributes.isRegularFile() ? "a regular file" : "a special file";
        return new IOException(path + " is " + kind + "; it must be " + wanted + ": move it away or replace it");
    }
}
