package io.modeldisk.platform.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** Calls mount(2) and umount2(2). Each method returns 0, or minus the error number. Thread-safe. */
public final class Mounts {
    public static final long MS_RDONLY = 1;
    public static final long MS_NOSUID = 2;
    public static final long MS_NODEV = 4;
    public static final int MNT_FORCE = 1;
    public static final int MNT_DETACH = 2;
    public static final int UMOUNT_NOFOLLOW = 8;

    private static final MethodHandle MOUNT = CLibrary.function("mount",
        FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));
    private static final MethodHandle UMOUNT2 = CLibrary.function("umount2",
        FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));

    private Mounts() {}

    public static int mount(String source, String directory, String type, long flags, String options) {
        return (int) CLibrary.call(MOUNT, source, directory, type, flags, options);
    }

    public static int unmount(String directory, int flags) {
        return (int) CLibrary.call(UMOUNT2, directory, flags);
    }
}
