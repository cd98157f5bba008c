package io.modeldisk.mount.file;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.modeldisk.mount.exchange.BufferedExchange;
import io.modeldisk.mount.exchange.VersionProbe;
import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.mount.fuse.OpenRequest;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The file {@code mapped/control}, for a learner that maps the buffers of the exchange ({@link MappedFile}). The mount is a
 * learner while a process has the file open for writing. An fsync ends the iteration: it pushes the whole gradient of the active
 * set. A read at offset 0 returns one line of JSON, which contains the number of the active set, the number of iterations that
 * have ended, and the version of the weights.
 */
public record ControlFile(BufferedExchange exchange, ModelUse use, VersionProbe probe) implements MountedFile {
    @Override
    public String name() {
        return MountEntry.CONTROL.fileName();
    }

    @Override
    public boolean is(Trait trait) {
        return trait == Trait.WRITABLE;
    }

    @Override
    public void setAttribute(String name, String value) throws IOException {
        if (!name.equals(Attribute.DROP.attributeName())) {
            throw new ErrnoException(Errno.EOPNOTSUPP, "the attribute " + name + " of " + name()
                + " cannot be changed here; set it on model");
        }
        exchange.drop(Cancellation.NONE);
    }

    @Override
    public FileHandle open(OpenRequest request, long instance) throws IOException {
        return new Handle(request.writable() ? openForLearner(request) : null);
    }

    @Override
    public FileHandle resume(boolean writable) {
        return new Handle(writable ? use.resume(true, name()) : null);
    }

    /** Joins as a learner, and waits for the weights. Other files can be opened and closed during this wait. */
    private ModelUse.Opened openForLearner(OpenRequest request) throws IOException {
        ModelUse.Opened opened = use.openForLearner(name(), exchange::prepareMapped, request);
        try {
            exchange.awaitWeights(request.cancellation());
            return opened;
        } catch (IOException | RuntimeException e) {
            opened.release();
            throw e;
        }
    }

    private byte[] state() {
        long version = exchange.weightsInUse().version();
        long known = version == VersionProbe.UNKNOWN ? probe.ask().version() : version;
        return (JsonNodeFactory.instance.objectNode()
            .put("set", exchange.activeSet())
            .put("iteration", exchange.iterations())
            .put("version", known == VersionProbe.UNKNOWN ? null : known) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private final class Handle extends ModelUse.Handle {
        private volatile byte[] text = {};

        /** Creates a handle. {@code opened} is null if the file is open for reading. */
        Handle(ModelUse.Opened opened) {
            super(opened);
        }

        @Override
        public void read(long offset, int lengthBytes, DataRequest request) throws IOException {
            if (opened != null) {
                opened.inUse();
            }
            byte[] line = offset == 0 ? state() : text;
            text = line;
            GeneratedFile.reply(line, offset, lengthBytes, request);
        }

        @Override
        public int write(long offset, int lengthBytes, DataRequest request) throws ErrnoException {
            throw new ErrnoException(Errno.EINVAL,
                name() + " accepts no data: store the gradient in mapped/gradient.N, and call fsync");
        }
    }
}
