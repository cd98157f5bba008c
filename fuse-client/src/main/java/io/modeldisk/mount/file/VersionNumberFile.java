package io.modeldisk.mount.file;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.mount.fuse.PollWakeup;
import io.modeldisk.platform.cancellation.Cancellation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The file {@code version}: the version of the model as one line of text. A read at offset 0 requests the version from the
 * shards. poll(2) of a handle returns POLLIN and POLLPRI if the version differs from the version that was last read through the
 * handle, or if nothing was read yet. If the version cannot be read any more, poll(2) also returns POLLERR.
 */
public record VersionNumberFile(VersionWatch watch) implements MountedFile {
    /** POLLIN, POLLPRI and POLLRDNORM. */
    private static final int CHANGED = 0x0043;
    /** POLLERR. */
    private static final int FAILED = 0x0008;

    @Override
    public String name() {
        return MountEntry.VERSION.fileName();
    }

    @Override
    public FileHandle open(boolean writable, Cancellation cancellation) {
        return new Handle();
    }

    private final class Handle implements FileHandle {
        // Guarded by this.
        private VersionWatch.Known seen;
        private VersionWatch.Wait wait;
        private byte[] text = {};

        @Override
        public void read(long offset, int lengthBytes, DataRequest request) throws IOException {
            GeneratedFile.reply(offset == 0 ? ask(request.cancellation()) : lastText(), offset, lengthBytes, request);
        }

        private byte[] ask(Cancellation cancellation) throws IOException {
            VersionWatch.Known now = watch.ask(cancellation);
            byte[] line = (now.version() + "\n").getBytes(StandardCharsets.UTF_8);
            synchronized (this) {
                seen = now;
                text = line;
            }
            return line;
        }

        private synchronized byte[] lastText() {
            return text;
        }

        @Override
        public synchronized int poll(PollWakeup wakeup) {
            if (seen == null) {
                if (wakeup != null) {
                    wakeup.discard();
                }
                return CHANGED;
            }
            boolean changed = watch.differs(seen);
            if (wakeup != null) {
                // A call that waits ends the wait of an earlier call. A call that does not wait must not end that wait, because
                // another thread can be waiting through the same descriptor.
                endWait();
                wait = watch.await(seen, wakeup);
                changed = wait == null;
            }
            return !changed ? 0 : watch.isBroken() ? CHANGED | FAILED : CHANGED;
        }

        private void endWait() {
            if (wait != null) {
                watch.cancel(wait);
                wait = null;
            }
        }

        @Override
        public synchronized void release() {
            endWait();
        }
    }
}
