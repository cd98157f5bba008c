package io.modeldisk.protocol.login.chap;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.EnumSet;
import java.util.Set;

/**
 * Reads {@link ChapSecrets} from a file. The owner of the file must be this process's user or root, and nobody else may access
 * the file.
 */
public final class SecretsFile {
    private static final long MAX_BYTES = 1 << 20;

    private static final Set<PosixFilePermission> OWNERS = EnumSet.of(
        PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private SecretsFile() {}

    /**
     * Reads a secrets file.
     *
     * @throws IOException if the file is missing or malformed, or if other users can read or write it; the message has a remedy
     */
    public static ChapSecrets read(Path file) throws IOException {
        try {
            check(file, Files.readAttributes(file, PosixFileAttributes.class));
            return ChapSecrets.parse(Files.readString(file), file.toString());
        } catch (NoSuchFileException e) {
            throw new IOException("the secrets file " + file + " does not exist", e);
        } catch (AccessDeniedException e) {
            throw new IOException("the secrets file " + file + " cannot be read: permission denied", e);
        } catch (CharacterCodingException e) {
            throw new IOException("the secrets file " + file + " is not UTF-8 text", e);
        } catch (IllegalArgumentException e) {
            throw new IOException("the secrets file " + e.getMessage(), e);
        }
    }

    private static void check(Path file, PosixFileAttributes attributes) throws IOException {
        if (!attributes.isRegularFile()) {
            throw new IOException("the secrets file " + file + " is not a regular file");
        }
        if (attributes.size() > MAX_BYTES) {
            throw new IOException("the secrets file " + file + " has " + attributes.size() + " bytes; at most "
                + MAX_BYTES + " are allowed");
        }
        if (!OWNERS.containsAll(attributes.permissions())) {
            throw new IOException("the secrets file " + file + " has the permissions "
                + PosixFilePermissions.toString(attributes.permissions())
                + ", so other users may read or change it; run chmod 600 " + file);
        }
        UserPrincipal self = Files.getOwner(Path.of("/proc/self"));
        UserPrincipal root = Files.getOwner(Path.of("/proc"));
        if (!attributes.owner().equals(self) && !attributes.owner().equals(root)) {
            throw new IOException("the secrets file " + file + " belongs to '" + attributes.owner().getName()
                + "'; it must belong to '" + self.getName() + "' or root");
        }
    }
}
