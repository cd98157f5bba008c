package io.modeldisk.mount.fuse.kernel;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.fuse.FuseFileSystem;
import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.fuse.FuseSession;
import io.modeldisk.mount.fuse.Unmounter;
import io.modeldisk.mount.fuse.UserMount;
import io.modeldisk.mount.handover.Handover;
import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.linux.Mounts;
import io.modeldisk.platform.linux.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Implements the kernel's FUSE protocol on /dev/fuse without a library. Even requests of 1 MiB are not copied and allocate no
 * memory.
 */
public final class KernelBinding implements FuseBinding {
    static final String DEVICE = "/dev/fuse";

    private final Path device = Path.of(DEVICE);
    private final boolean passthrough;
    private final boolean mayResend;

    /** Creates a binding that uses all features of the kernel. */
    public KernelBinding() {
        this(true, true);
    }

    /**
     * Creates a binding that can leave features of newer kernels unused.
     *
     * @param passthrough whether to use FUSE passthrough. If false, files whose content is memory are symbolic links
     * @param mayResend whether the kernel is allowed to send requests again that are in progress when a process hands over its
     *     mount. If false, these requests fail with EINTR
     */
    KernelBinding(boolean passthrough, boolean mayResend) {
        this.passthrough = passthrough;
        this.mayResend = mayResend;
    }

    @Override
    public String name() {
        return "kernel";
    }

    @Override
    public String unavailabilityCause() {
        if (!Files.exists(device)) {
            return DEVICE + " is missing: load the kernel module (modprobe fuse), or pass the device to the container";
        }
        if (Processes.effectiveUserId() != 0 && !UserMount.isAvailable()) {
            return "only root can mount without fusermount3: install the package fuse3";
        }
        if (!Files.isReadable(device) || !Files.isWritable(device)) {
            return "this user cannot open " + DEVICE + ": set its usual mode 0666 (chmod 666 " + DEVICE
                + ", as root)";
        }
        return "";
    }

    @Override
    public FuseSession mount(Path directory, FuseFileSystem fileSystem, FuseOptions options) throws IOException {
        if (options.handover().resumes()) {
            return serve(directory, options.handover().take(Handover.DEVICE), fileSystem, options);
        }
        int userId = Processes.effectiveUserId();
        return userId == 0
            ? mountAsRoot(directory, fileSystem, options)
            : serve(directory, UserMount.mount(directory, options), fileSystem, options);
    }

    private FuseSession mountAsRoot(Path directory, FuseFileSystem fileSystem, FuseOptions options) throws IOException {
        int fd = Descriptors.open(DEVICE, Descriptors.O_RDWR | Descriptors.O_CLOEXEC);
        if (fd < 0) {
            throw new IOException(
                "cannot mount " + directory + ": " + DEVICE + " cannot be opened: " + Errno.nameOf(-fd));
        }
        String data = "fd=" + fd + ",rootmode=40000,user_id=0,group_id=" + Processes.effectiveGroupId()
            + (options.access().isShared(0) ? ",allow_other" : "") + ",default_permissions,max_read="
            + DataRequest.MAX_REQUEST_BYTES;
        int mounted = Mounts.mount(options.source(), directory.toString(), FuseOptions.TYPE,
            Mounts.MS_NOSUID | Mounts.MS_NODEV | (options.readOnly() ? Mounts.MS_RDONLY : 0), data);
        if (mounted < 0) {
            Descriptors.close(fd);
            throw new IOException("cannot mount " + directory + ": mount(2) failed with " + Errno.nameOf(-mounted)
                + (mounted == -Errno.EPERM.number() ? ": this container lacks CAP_SYS_ADMIN" : ""));
        }
        return serve(directory, fd, fileSystem, options);
    }

    private FuseSession serve(Path directory, int fd, FuseFileSystem fileSystem, FuseOptions options)
        throws IOException {
        Unmounter unmounter = Unmounter.ofThisUser();
        try {
            return new KernelSession(directory, fd, fileSystem, options, unmounter, passthrough, mayResend);
        } catch (IOException | RuntimeException e) {
            // The descriptor is closed before the unmount. Otherwise the unmount would wait for a reply from this session.
            Descriptors.close(fd);
            unmounter.unmountForGood(directory);
            throw e;
        }
    }
}
