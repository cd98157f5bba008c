package io.modeldisk.mount.fuse.kernel;

import io.modeldisk.mount.fuse.FuseBinding;

/** Creates bindings that do not use all features of the kernel, for tests. */
public final class LinkBinding {
    private LinkBinding() {}

    /** Returns a binding that shows files whose content is memory as symbolic links, as for users other than root. */
    public static FuseBinding create() {
        return new KernelBinding(false, true);
    }

    /** Returns a binding that does not let the kernel send requests again, as before Linux 6.9. */
    public static FuseBinding withoutResend() {
        return new KernelBinding(true, false);
    }
}
