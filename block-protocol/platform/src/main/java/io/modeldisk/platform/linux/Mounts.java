package io.modeldisk.platform.linux;

/** Calls mount(2) and umount2(2). Each method returns 0, or minus the error number. Thread-safe. */
public final class Mounts {
    public static final long MS_RDONLY = 1;
    public static final long MS_NOSUID = 2;
    public static final long MS_NODEV = 4;
    public static final int MNT_FORCE = 1;
    public static final int MNT_DETACH = 2;
    public static final int UMOUNT_NOFOLLOW = 8;

    private Mounts() {}

    public static int mount(String source, String directory, String type, long flags, String options) {
        return CLibrary.call("mount", source, directory, type, flags, options);
    }

    public static int unmount(String directory, int flags) {
        return CLibrary.call("umount2", directory, flags);
    }
}
