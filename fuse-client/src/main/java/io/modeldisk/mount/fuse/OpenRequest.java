package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;

/**
 * A request to open a file.
 *
 * @param writable whether the file is opened for writing
 * @param threadId the ID of the calling thread in the PID namespace of the mount; 0 if that namespace does not contain it
 * @param sinceNs the time at which the process began to wait, measured by the clock of the mount
 */
public record OpenRequest(boolean writable, int threadId, long sinceNs, Cancellation cancellation) {}
