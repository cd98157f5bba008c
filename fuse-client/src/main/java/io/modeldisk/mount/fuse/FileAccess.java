package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.text.PlainText;

/**
 * The owner and the permissions of files in a mount. The kernel checks the permissions at every open (mount option
 * {@code default_permissions}).
 *
 * @param userId the user ID of the owner
 * @param groupId the ID of the group
 * @param mode the permission bits of a writable file, {@code 0400} to {@code 0666}. A read-only file has the same bits without
 *     the write bits. A directory has the read bits, and an execute bit for each of them
 * @param allowOther whether the last digit of the mode applies; if false, only the owner and the group have access
 */
public record FileAccess(int userId, int groupId, int mode, boolean allowOther) {
    /** The default mode: only the owner can read and write. */
    public static final int DEFAULT_MODE = 0600;

    private static final int READ_BITS = 0444;
    private static final int READ_WRITE_BITS = 0666;
    private static final int OWNER_READS = 0400;
    private static final int GROUP_BITS = 0070;
    private static final int OTHER_BITS = 0007;

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if a value is invalid; the message names the value and its valid range
     */
    public FileAccess {
        if (userId < 0 || groupId < 0) {
            throw new IllegalArgumentException("uid=" + userId + " and gid=" + groupId + " must not be negative");
        }
        if ((mode & ~READ_WRITE_BITS) != 0 || (mode & OWNER_READS) == 0) {
            throw new IllegalArgumentException("mode=" + Integer.toOctalString(mode)
                + ((mode & OWNER_READS) == 0
                    ? " must include the owner's read bit (0400)"
                    : " can have only read and write bits (0400 to 0666)"));
        }
    }

    /** Returns the default access: only the user of this process has access. */
    public static FileAccess ofThisUser() {
        return new FileAccess(Processes.effectiveUserId(), Processes.effectiveGroupId(), DEFAULT_MODE, false);
    }

    /**
     * Returns whether any user other than the mounting user has access. If not, the mount does not have the option {@code
     * allow_other}, and the kernel refuses other users before it checks the mode.
     */
    public boolean isShared(int mountingUserId) {
        return allowOther || userId != mountingUserId || (mode & GROUP_BITS) != 0;
    }

    /** Returns the permission bits of a file. */
    int fileBits(boolean writable) {
        int bits = allowOther ? mode : mode & ~OTHER_BITS;
        return writable ? bits : bits & READ_BITS;
    }

    /** Returns the permission bits of the directory. It has no write bits, because its files are fixed. */
    int directoryBits() {
        int read = fileBits(false);
        return read | read >> 2;
    }

    @Override
    public String toString() {
        return PlainText.format("uid=%d,gid=%d,mode=%04o,allowOther=%b", userId, groupId, mode, allowOther);
    }
}
