package io.modeldisk.mount;

import io.modeldisk.mount.exchange.BufferedExchange;
import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.exchange.ExchangeSettings;
import io.modeldisk.mount.exchange.VersionProbe;
import io.modeldisk.mount.file.ControlFile;
import io.modeldisk.mount.file.FailureErrno;
import io.modeldisk.mount.file.GeneratedFile;
import io.modeldisk.mount.file.MappedFile;
import io.modeldisk.mount.file.ModelFile;
import io.modeldisk.mount.file.ModelUse;
import io.modeldisk.mount.file.MountEntry;
import io.modeldisk.mount.file.VersionNumberFile;
import io.modeldisk.mount.file.VersionWatch;
import io.modeldisk.mount.file.WeightsFile;
import io.modeldisk.mount.fuse.FuseFileSystem;
import io.modeldisk.mount.fuse.FuseSession;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.mount.handover.Handover;
import io.modeldisk.mount.handover.MountState;
import io.modeldisk.mount.tensor.NamedTensor;
import io.modeldisk.mount.tensor.VersionFile;
import io.modeldisk.mount.tensor.VersionMemory;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.TraceEvents;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.CallingProcess;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** The files of a mounted model, with the exchange and the trace that they share. */
final class ModelFiles implements FuseFileSystem, AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(ModelFiles.class);

    private final MountContext context;
    private final Handover handover;
    final Exchange exchange;
    private final RemoteModel shards;
    private final ModelFile model;
    private final WeightsFile weights;
    private final VersionWatch versionWatch;
    private final ModelUse use;
    final IterationTrace trace;
    final StatusReport report;
    private final List<MountedFile> files;
    private volatile FuseSession session;

    ModelFiles(MountContext context) throws IOException {
        this.context = context;
        this.handover = context.handover;
        this.shards = context.remoteModel;
        this.weights = new WeightsFile(shards);
        this.versionWatch = new VersionWatch(shards, NanoClock.SYSTEM);
        this.trace = new IterationTrace(NanoClock.SYSTEM, Instant.now());
        this.exchange = context.exchange.create(shards,
            handover.isKept()
                ? new ExchangeSettings(context.pull, context.onRollback, trace, handover::memory)
                : new ExchangeSettings(context.pull, context.onRollback, trace));
        VersionProbe probe = new VersionProbe(shards, NanoClock.SYSTEM);
        this.use = new ModelUse(shards, exchange, NanoClock.SYSTEM, context.shared, this::learnerJoined);
        this.model = new ModelFile(shards, exchange, use, probe);
        this.report = new StatusReport(context, exchange, use);
        TraceEvents traceEvents = new TraceEvents(trace, shards.learner(), shards.facts().model(),
            context.exchange.toString());
        List<MountedFile> all = new ArrayList<>(List.of(model, weights, new VersionNumberFile(versionWatch),
            new GeneratedFile(MountEntry.STATUS.fileName(), cancellation -> report.text())));
        if (!shards.follows()) {
            all.add(new GeneratedFile(MountEntry.PARTITION.fileName(), use::partitionJson));
            all.add(new GeneratedFile(MountEntry.TRACE.fileName(), cancellation -> traceEvents.toJson()));
        }
        if (exchange instanceof BufferedExchange local) {
            all.add(new ControlFile(local, use, probe));
            all.addAll(MappedFile.of(local, model.sizeBytes()));
        }
        all.addAll(namedFiles(shards));
        this.files = List.copyOf(all);
    }

    private List<MountedFile> namedFiles(RemoteModel model) throws IOException {
        byte[] text;
        try {
            text = model.tensors();
        } catch (ShardException e) {
            if (e.kind() != ShardException.Kind.REFUSED && e.kind() != ShardException.Kind.ACCESS_DENIED) {
                throw e;
            }
            LOG.warn(
                "the mount has no model.safetensors, tensors or tensors.json, because the shard did not return the tensors: {}",
                e.getMessage());
            return List.of();
        }
        List<NamedTensor> tensors = NamedTensor.parse(text, model.facts().sizeBytes());
        List<MountedFile> named = new ArrayList<>(VersionFile.of(model, tensors, NamedTensor.metadata(text),
            new VersionMemory(model)));
        byte[] places = NamedTensor.toJson(tensors, model.dtype());
        named.add(new GeneratedFile(MountEntry.TENSORS.fileName(), cancellation -> places));
        return named;
    }

    /** Sets the session that serves the files. */
    void session(FuseSession serving) {
        report.memoryFiles(serving.memoryFiles());
        session = serving;
    }

    /** See {@link Handover#open}. */
    String openState(Path directory, String obstacle) throws IOException {
        String names = files.stream().map(MountedFile::name).sorted().collect(Collectors.joining("/"));
        exchange.onMilestone(this::milestone);
        return handover.open(shards.learner(), directory, PlainText.format("""
            model=%s
            bytes=%d
            shards=%d
            dtype=%s
            exchange=%s
            readOnly=%b
            files=%d-%08x
            """, shards.facts().model(), shards.facts().sizeBytes(), shards.facts().shards(), shards.dtype(),
            context.exchange, shards.follows(), files.size(), names.hashCode()),
            image(0).toBytes().length, obstacle);
    }

    private LearnerImage image(long completedRequest) {
        return new LearnerImage(completedRequest, shards.learnerImage(), exchange.image());
    }

    private void learnerJoined(CallingProcess learner) {
        if (handover.isKept()) {
            handover.state().word(MountState.Word.LEARNER, learner.id());
            handover.state().word(MountState.Word.LEARNER_START, learner.start());
        }
    }

    private void milestone(Cancellation request) {
        FuseSession serving = session;
        if (!handover.isKept()) {
            return;
        }
        if (request == null || serving == null) {
            handover.dropImage();
        } else {
            handover.save(image(serving.requestNumber(request)).toBytes());
        }
    }

    /** Saves the state for the next process. Returns false if an exchange with the shards could not be stopped. */
    boolean leave() {
        versionWatch.close();
        boolean complete = weights.endTruncation() & exchange.freeze();
        if (complete) {
            handover.leave(image(0).toBytes());
        }
        return complete;
    }

    /** Continues the mount from the state that the previous process has saved. */
    void resume() throws IOException {
        boolean complete = handover.stoppedInOrder();
        use.resumeLearner(CallingProcess.of(handover.state().word(MountState.Word.LEARNER),
            handover.state().word(MountState.Word.LEARNER_START)));
        List<MountedFile> used = new ArrayList<>();
        List<MountedFile> learners = new ArrayList<>();
        handover.state().forEachFile((number, node, writable, poll) -> {
            MountedFile file = files.get(FuseFileSystem.indexOf(node));
            if (file == model || file.name().equals(MountEntry.CONTROL.fileName())) {
                (writable ? learners : used).add(file);
            }
        });
        byte[] saved = complete || !learners.isEmpty() ? handover.image() : null;
        if (saved != null) {
            LearnerImage image = LearnerImage.of(saved);
            handover.completed(image.completedRequest());
            shards.resumeLearner(image.sessions(), !complete);
            exchange.resume(image.exchange(), !complete);
        } else if (!learners.isEmpty()) {
            resumeAfterKill(learners.getFirst());
        } else if (!used.isEmpty()) {
            exchange.prepare(false, Cancellation.NONE);
        }
        if (learners.isEmpty() || learners.getFirst() == model) {
            // After a kill, an image can be older than the last write. Only a learner that maps the buffers can continue from
            // such an image.
            handover.dropImage();
        }
        LOG.warn("continues the mount of the previous process, which {}",
            complete ? "exited normally" : "was killed");
    }

    private void resumeAfterKill(MountedFile file) throws IOException {
        ShardException reason = new ShardException(ShardException.Kind.LEARNER_FORGOTTEN, null,
            "the previous process of the mount was killed, so it is unknown which part of the gradient counts; the gradient is "
                + "discarded");
        shards.join();
        exchange.resumeAfterKill(file != model, reason);
    }

    @Override
    public List<MountedFile> files() {
        return files;
    }

    @Override
    public List<String> attributeNames() {
        return model.attributeNames();
    }

    @Override
    public Optional<String> attribute(String name) {
        return model.attribute(name);
    }

    @Override
    public long capacityBytes() {
        return model.sizeBytes();
    }

    @Override
    public void flush() {
        shards.flush();
    }

    @Override
    public Errno errno(IOException failure) {
        exchange.counters().failed(failure);
        return FailureErrno.of(failure);
    }

    @Override
    public void close() {
        versionWatch.close();
        exchange.close();
        weights.close();
    }
}
