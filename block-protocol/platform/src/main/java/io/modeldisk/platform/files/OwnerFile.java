package io.modeldisk.platform.files;

import io.modeldisk.platform.SettingException;
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
 * A text file with a secret. The owner of the file must be this process's user or root, and other users must not have access to
 * the file. A systemd credential (systemd.exec(5), LoadCredential=) is also such a file.
 */
public final class OwnerFile {
    private static final long MAX_BYTES = 1 << 20;

    private static final Set<PosixFilePermission> OWNERS = EnumSet.of(
        PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    /**
     * The maximum permissions of a systemd credential. systemd gives the user of a service read access with an access control
     * list. The group permissions of such a file show the mask of this list, although the group has no access.
     */
    private static final Set<PosixFilePermission> CREDENTIALS = EnumSet.of(
        PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.GROUP_READ);

    private OwnerFile() {}

    /**
     * Reads a file.
     *
     * @param name the term for the file in messages, such as {@code secrets file}
     * @throws IOException if the file is missing, is not text or is too large, or if other users can read or write it; the
     *     message contains the reason
     */
    public static String read(Path file, String name) throws IOException {
        return read(file, name, System.getenv("CREDENTIALS_DIRECTORY"));
    }

    /**
     * Reads a file.
     *
     * @param credentials the directory in which systemd passes credentials to this service; null if there is none
     */
    static String read(Path file, String name, String credentials) throws IOException {
        String what = "the " + name + " " + file;
        try {
            boolean credential = credentials != null && Path.of(credentials).equals(file.getParent());
            check(file, what, Files.readAttributes(file, PosixFileAttributes.class), credential ? CREDENTIALS : OWNERS);
            return Files.readString(file);
        } catch (NoSuchFileException e) {
            throw new SettingException(what + " does not exist", e);
        } catch (AccessDeniedException e) {
            throw new SettingException(what + " cannot be read: permission denied", e);
        } catch (CharacterCodingException e) {
            throw new SettingException(what + " is not UTF-8 text", e);
        }
    }

    private static void check(Path file, String what, PosixFileAttributes attributes, Set<PosixFilePermission> allowed)
        throws IOException {
        if (!attributes.isRegularFile()) {
            throw new SettingException(what + " is not a regular file");
        }
        if (attributes.size() > MAX_BYTES) {
            throw new SettingException(
                what + " has " + attributes.size() + " bytes; at most " + MAX_BYTES + " are allowed");
        }
        if (!allowed.containsAll(attributes.permissions())) {
            throw new SettingException(
                what + " has the permissions " + PosixFilePermissions.toString(attributes.permissions())
                    + ", so other users can read or change it; run chmod 600 " + file);
        }
        UserPrincipal self = Files.getOwner(Path.of("/proc/self"));
        UserPrincipal root = Files.getOwner(Path.of("/proc"));
        if (!attributes.owner().equals(self) && !attributes.owner().equals(root)) {
            throw new SettingException(what + " belongs to '" + attributes.owner().getName() + "'; it must belong to '"
                + self.getName() + "' or root");
        }
    }
}
