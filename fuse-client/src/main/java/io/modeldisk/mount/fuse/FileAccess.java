package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Processes;

/**
 * Owner and permissions of the files of a mount. The kernel checks them at every open (mount option {@code default_permissions}).
 *
 * @param userId the owner's user number
 * @param groupId the group's number
 * @param mode the permission bits of a writable file, {@code 0400} to {@code 0666}; a read-only file has no write bits, and the
 *     directory has an execute bit beside each read bit
 * @param allowOther whether the mode's last digit is in force; without it, users who are neither the owner nor in the group have
 *     no access
 */
public record FileAccess(int userId, int groupId, int mode, boolean allowOther) {
    /** Read and write for the owner alone. */
    public static final int DEFAULT_MODE = 0600;

    private static final int READ_BITS = 0444;
    private static final int READ_WRITE_BITS = 0666;
    private static final int OWNER_READS = 0400;
    private static final int GROUP_BITS = 0070;
    private static final int OTHER_BITS = 0007;

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException that names the value and its valid range
     */
    public FileAccess {
        if (userId < 0 || groupId < 0) {
            throw new IllegalArgumentException("uid=" + userId + " gid=" + groupId + " must not be negative");
        }
        if ((mode & ~READ_WRITE_BITS) != 0 || (mode & OWNER_READS) == 0) {
            throw new IllegalArgumentException("mode=" + Integer.toOctalString(mode)
                + " must have read and write bits only, and the owner's read bit: 0400 to 0666");
        }
    }

    /** Access for the user of this process alone. */
    public static FileAccess ofThisUser() {
        return new FileAccess(Processes.effectiveUserId(), Processes.effectiveGroupId(), DEFAULT_MODE, false);
    }

    /** The same with another owner. */
    public FileAccess withUser(int value) {
        return new FileAccess(value, groupId, mode, allowOther);
    }

    /** The same with another group. */
    public FileAccess withGroup(int value) {
        return new FileAccess(userId, value, mode, allowOther);
    }

    /** The same with other permission bits. */
    public FileAccess withMode(int value) {
        return new FileAccess(userId, groupId, value, allowOther);
    }

    /** The same with or without access for users who are neither the owner nor in the group. */
    public FileAccess withOthers(boolean value) {
        return new FileAccess(userId, groupId, mode, value);
    }

    /**
     * Whether anybody but the mounting user may have access. If not, the kernel refuses every other user before it looks at the
     * mode (no mount option {@code allow_other}).
     */
    boolean isShared(int mountingUserId) {
        return allowOther || userId != mountingUserId || (mode & GROUP_BITS) != 0;
    }

    /** The permission bits of a file. */
    int fileBits(boolean writable) {
        int bits = allowOther ? mode : mode & ~OTHER_BITS;
        return writable ? bits : bits & READ_BITS;
    }

    /** The permission bits of the directory: its files are fixed, so it has no write bits. */
    int directoryBits() {
        int read = fileBits(false);
        return read | read >> 2;
    }

    @Override
    public String toString() {
        return "uid=%d,gid=%d,mode=%04o,allowOther=%b".formatted(userId, groupId, mode, allowOther);
    }
}
