package io.modeldisk.mount;

import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.file.ModelFile;
import io.modeldisk.mount.file.StatusFile;
import io.modeldisk.mount.file.WeightsFile;
import io.modeldisk.mount.fuse.FuseFileSystem;
import io.modeldisk.mount.fuse.MountedFile;
import java.io.IOException;
import java.util.List;

/** The files of a mounted model, and what they use. */
final class ModelFiles implements FuseFileSystem, AutoCloseable {
    private final Exchange exchange;
    private final ModelFile model;
    private final WeightsFile weights;
    private final List<MountedFile> files;

    ModelFiles(ModelMount.Context context) throws IOException {
        this.weights = new WeightsFile(context.remoteModel());
        this.exchange = context.exchange().create(context.remoteModel());
        this.model = new ModelFile(context.remoteModel(), exchange);
        StatusReport report = new StatusReport(context, exchange.counters(), model);
        this.files = List.of(model, weights, new StatusFile(report::text));
    }

    @Override
    public List<MountedFile> files() {
        return files;
    }

    @Override
    public long capacityBytes() {
        return model.sizeBytes();
    }

    @Override
    public void close() {
        exchange.close();
        weights.close();
    }
}
