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

/** The file of {@link ChapSecrets}. Only its owner, this process's user or root, may be able to read it. */
public final class SecretsFile {
    private static final long MAX_BYTES = 1 << 20;

    private static final Set<PosixFilePermission> OWNERS = EnumSet.of(
        PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private SecretsFile() {}

    /**
     * Reads it.
     *
     * @throws IOException if it is missing or malformed, or if others can read or write it, with a remedy
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
            throw new IOException("the secrets file " + file + " has " + attributes.size() + " bytes, more than "
                + MAX_BYTES);
        }
        if (!OWNERS.containsAll(attributes.permissions())) {
            throw new IOException("the secrets file " + file + " has the permissions "
                + PosixFilePermissions.toString(attributes.permissions())
                + ": others may read or change it; chmod 600 " + file);
        }
        UserPrincipal self = Files.getOwner(Path.of("/proc/self"));
        UserPrincipal root = Files.getOwner(Path.of("/proc"));
        if (!attributes.owner().equals(self) && !attributes.owner().equals(root)) {
            throw new IOException("the secrets file " + file + " belongs to " + attributes.owner().getName()
                + "'s; it must belong to " + self.getName() + " or root");
        }
    }
}
