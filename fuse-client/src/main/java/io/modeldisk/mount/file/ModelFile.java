package io.modeldisk.mount.file;

import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.exchange.VersionProbe;
import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.mount.fuse.OpenRequest;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * The file {@code model}. A read returns weights, a write accepts a gradient, and an fsync ends the iteration. The mount is a
 * learner while a process has the file open for writing.
 */
public final class ModelFile implements MountedFile {
    private final Exchange exchange;
    private final ModelUse use;
    private final FixedSize size;
    private final ModelAttributes attributes;

    /** Creates the file of this model. The exchange moves the data of the file. */
    public ModelFile(RemoteModel model, Exchange exchange, ModelUse use, VersionProbe probe) {
        this.exchange = exchange;
        this.use = use;
        this.size = new FixedSize(name(), model.trainBytes());
        this.attributes = new ModelAttributes(model, exchange, probe, use.partition());
    }

    @Override
    public String name() {
        return MountEntry.MODEL.fileName();
    }

    @Override
    public boolean is(Trait trait) {
        return trait == Trait.WRITABLE || trait == Trait.WEIGHTS;
    }

    @Override
    public long sizeBytes() {
        return size.bytes();
    }

    @Override
    public List<String> attributeNames() {
        return attributes.names();
    }

    @Override
    public Optional<String> attribute(String name) {
        return attributes.value(name);
    }

    @Override
    public void setAttribute(String name, String value) throws IOException {
        attributes.set(name, value);
    }

    @Override
    public FileHandle open(OpenRequest request, long instance) throws IOException {
        return new Handle(request.writable()
            ? use.openForLearner(name(), start -> exchange.prepare(true, start), request)
            : use.openForReading(request.cancellation()));
    }

    @Override
    public FileHandle resume(boolean writable) {
        return new Handle(use.resume(writable, name()));
    }

    private final class Handle extends ModelUse.Handle {
        Handle(ModelUse.Opened opened) {
            super(opened);
        }

        @Override
        public void read(long offset, int lengthBytes, DataRequest request) throws IOException {
            opened.inUse();
            int within = size.readable(offset, lengthBytes);
            if (within > 0) {
                exchange.read(offset, within, request);
            }
        }

        @Override
        public boolean startRead(long offset, int lengthBytes, DataRequest request) throws IOException {
            opened.inUse();
            int within = size.readable(offset, lengthBytes);
            return within > 0 && exchange.startRead(offset, within, request);
        }

        @Override
        public boolean startWrite(long offset, int lengthBytes, DataRequest request) throws IOException {
            opened.inUse();
            int within = exchange.writable(offset, size.writable(offset, lengthBytes));
            return within > 0 && exchange.startWrite(offset, within, request);
        }

        @Override
        public int write(long offset, int lengthBytes, DataRequest request) throws IOException {
            opened.inUse();
            int within = exchange.writable(offset, size.writable(offset, lengthBytes));
            if (within > 0) {
                exchange.write(offset, within, request);
            }
            return within;
        }
    }
}
