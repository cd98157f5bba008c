package io.modeldisk.mount.fuse.kernel;

/**
 * The lanes of a session, one for each kind of request that can wait. The lanes leave {@value #IMMEDIATE_THREADS} threads free,
 * so immediate requests (attributes, names, interrupts) are served even if many other requests wait. Thread-safe.
 */
final class Lanes {
    /** The maximum number of {@link RequestKind#INQUIRY} requests that are served at the same time. */
    static final int INQUIRIES = 4;

    /** The maximum number of {@link RequestKind#VERSION} requests that are served at the same time. */
    static final int VERSIONS = 2;

    /**
     * The number of threads that remain for immediate requests when all lanes are full. One of them serves a request while the
     * other reads the next request.
     */
    static final int IMMEDIATE_THREADS = 2;

    private final Lane data;
    private final Lane inquiries;
    private final Lane versions;

    /**
     * Creates the lanes.
     *
     * @param beforeWait is run by a thread before it waits because the memory for parked requests is full
     */
    Lanes(int dataRequests, Runnable beforeWait) {
        this.data = new Lane("data", dataRequests, Lane.DEFAULT_PARKED_BYTES, beforeWait);
        this.inquiries = new Lane("inquiries", INQUIRIES, Lane.DEFAULT_PARKED_BYTES, beforeWait);
        this.versions = new Lane("versions", VERSIONS, Lane.DEFAULT_PARKED_BYTES, beforeWait);
    }

    /** Returns the number of threads that a session needs so that requests of one kind never block requests of another kind. */
    static int threads(int dataRequests) {
        return dataRequests + INQUIRIES + VERSIONS + IMMEDIATE_THREADS;
    }

    /** Returns the lane of a kind, or null if requests of this kind never wait. */
    Lane of(RequestKind kind) {
        return switch (kind) {
            case DATA -> data;
            case INQUIRY -> inquiries;
            case VERSION -> versions;
            case IMMEDIATE -> null;
        };
    }

    /** Removes a parked request and returns it. Returns null if the request is not parked. */
    ParkedRequest remove(long unique) {
        ParkedRequest request = data.remove(unique);
        request = request != null ? request : inquiries.remove(unique);
        return request != null ? request : versions.remove(unique);
    }
}
