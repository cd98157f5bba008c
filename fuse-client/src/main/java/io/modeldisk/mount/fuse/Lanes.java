package io.modeldisk.mount.fuse;

/**
 * The lanes of a session. Requests that may wait have a lane for each kind, so that they never take the last threads: requests
 * that the mount answers itself (attributes, names, interrupts) are served at once, however many others wait. Thread-safe.
 */
final class Lanes {
    /** How many inquiries are served at once. */
    static final int INQUIRIES = 4;

    /** Threads that are left for immediate requests when all lanes are full: one may serve while another reads. */
    static final int IMMEDIATE_THREADS = 2;

    private final Lane data;
    private final Lane inquiries = new Lane("inquiries", INQUIRIES, Lane.DEFAULT_PARKED_BYTES);

    Lanes(int dataRequests) {
        this.data = new Lane("data", dataRequests, Lane.DEFAULT_PARKED_BYTES);
    }

    /** The number of threads with which no request of a kind can keep those of another from being served. */
    static int threads(int dataRequests) {
        return dataRequests + INQUIRIES + IMMEDIATE_THREADS;
    }

    /** The lane of a kind; null if its requests are served at once. */
    Lane of(RequestKind kind) {
        return switch (kind) {
            case DATA -> data;
            case INQUIRY -> inquiries;
            case IMMEDIATE -> null;
        };
    }

    /** Removes a parked request; null if it is not parked. */
    ParkedRequest remove(long unique) {
        ParkedRequest request = data.remove(unique);
        return request != null ? request : inquiries.remove(unique);
    }
}
