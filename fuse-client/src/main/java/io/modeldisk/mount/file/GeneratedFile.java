package io.modeldisk.mount.file;

import io.modeldisk.mount.exchange.Memories;
import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.function.IoFunction;
import java.io.IOException;

/**
 * A read-only file whose text is generated when the file is opened. stat(2) shows size 0, as for files in /proc.
 *
 * @param text generates the text; the open of the file fails if this function throws an exception
 */
public record GeneratedFile(String name, IoFunction<Cancellation, byte[]> text) implements MountedFile {
    @Override
    public boolean is(Trait trait) {
        return trait == Trait.WAITS_AT_OPEN;
    }

    @Override
    public FileHandle open(boolean writable, Cancellation cancellation) throws IOException {
        return new Handle(text.apply(cancellation));
    }

    @Override
    public FileHandle resume(boolean writable) {
        return new Handle(null);
    }

    /** Replies to a read with the requested range of this text. */
    static void reply(byte[] text, long offset, int lengthBytes, DataRequest request) throws IOException {
        int within = (int) Math.clamp(text.length - offset, 0L, lengthBytes);
        if (within > 0) {
            Memories.copy(text, (int) offset, request.memory(), request.memoryOffset(), within);
            request.reply(request.memory(), request.memoryOffset(), within);
        }
    }

    private final class Handle implements FileHandle {
        /** The text. Null until the first read if the previous process of the mount has opened the file. */
        private volatile byte[] content;

        Handle(byte[] content) {
            this.content = content;
        }

        @Override
        public void read(long offset, int lengthBytes, DataRequest request) throws IOException {
            byte[] now = content;
            if (now == null) {
                now = text.apply(request.cancellation());
                content = now;
            }
            reply(now, offset, lengthBytes, request);
        }
    }
}
