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
 * Accesses files in a directory that belongs to this program, such as the directory of {@code --state}. A symbolic link at the
 * end of a path is never followed, so no file outside of the directory is read, changed or deleted. Other users cannot read the
 * created files and directories. Thread-safe.
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
     * Opens a regular file. Refuses all other kinds of files: opening a FIFO, for example, would wait for its other end.
     *
     * @throws IOException if the path exists and is not a regular file; the message contains the kind of the file
     */
    public static FileChannel open(Path file, OpenOption... options) throws IOException {
        try {
            BasicFileAttributes attributes = attributes(file);
            if (!attributes.isRegularFile()) {
                throw unexpected(file, attributes, "a regular file");
            }
        } catch (NoSuchFileException e) {
            // The file does not exist. FileChannel.open() creates it or fails, depending on the options.
        }
        Set<OpenOption> all = new HashSet<>(List.of(options));
        all.add(LinkOption.NOFOLLOW_LINKS);
        return FileChannel.open(file, all, FILE);
    }

    /** Reads a regular file. Refuses all other kinds of files, like {@link #open}. */
    public static byte[] readAllBytes(Path file) throws IOException {
        try (FileChannel channel = open(file, StandardOpenOption.READ)) {
            return Channels.newInputStream(channel).readAllBytes();
        }
    }

    /** Creates an empty file. Fails if the name already exists, even if the name is a symbolic link to a missing file. */
    public static void createFile(Path file) throws IOException {
        Files.createFile(file, FILE);
    }

    /** Creates a directory. Fails if the name already exists. */
    public static Path createDirectory(Path directory) throws IOException {
        return Files.createDirectory(directory, DIRECTORY);
    }

    /** Returns whether the path is a directory and not a symbolic link. */
    public static boolean isDirectory(Path path) {
        return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * Checks that the path is a directory.
     *
     * @throws IOException if the path is not a directory; the message contains the kind of the file
     */
    public static void checkDirectory(Path path) throws IOException {
        BasicFileAttributes attributes = attributes(path);
        if (!attributes.isDirectory()) {
            throw unexpected(path, attributes, "a directory");
        }
    }

    /** Deletes a file, a link, or a directory with all its contents. Does nothing if the path does not exist. */
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
