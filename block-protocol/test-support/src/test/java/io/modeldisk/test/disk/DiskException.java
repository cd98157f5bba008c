package io.modeldisk.test.disk;

/** Reports that a request of the kernel fails with an error number. */
final class DiskException extends Exception {
    static final int EEXIST = 17;
    static final int EROFS = 30;
    static final int ENOTEMPTY = 39;

    private static final long serialVersionUID = 1;

    private final int errno;

    DiskException(int errno) {
        super("errno " + errno, null, false, false);
        this.errno = errno;
    }

    int errno() {
        return errno;
    }
}
