package io.modeldisk.mount;

import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.exchange.OnRollback;
import io.modeldisk.mount.fuse.FileAccess;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.handover.Handover;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.striping.RemoteModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The configuration of a {@link ModelMount}, which reads the fields after {@link #conclude}. Not thread-safe. */
public final class MountContext {
    Path directory;
    RemoteModel remoteModel;
    ExchangeScheme exchange = ExchangeScheme.SYNC;
    PullPolicy pull = PullPolicy.ADAPTIVE;
    OnRollback onRollback = OnRollback.FAIL;
    boolean shared;
    String datamover = "";
    Map<String, List<TunedSize>> tuning = Map.of();
    FileAccess access = FileAccess.ofThisUser();
    FuseBinding binding = FuseBinding.named(FuseBinding.DEFAULT);
    Handover handover = Handover.none();
    /**
     * The maximum number of data requests, such as reads, writes and fsyncs, that are served at the same time. Each of these
     * requests uses a thread and 1 MiB of memory.
     */
    int dataRequests = FuseOptions.DEFAULT_DATA_REQUESTS;
    private String source = "modeldisk";

    /** Sets the mount point, which is an existing directory. Required. */
    public MountContext directory(Path value) {
        this.directory = value;
        return this;
    }

    /** Sets the source of the mount in the mount table, such as the address of the model. Default: {@code modeldisk}. */
    public MountContext source(String value) {
        this.source = value;
        return this;
    }

    /**
     * Sets the model. Required. The mount does not close the model, so the caller must close it after the mount. If the model
     * only follows ({@link RemoteModel#follows}), its files are read-only.
     */
    public MountContext remoteModel(RemoteModel value) {
        this.remoteModel = value;
        return this;
    }

    /** Sets the exchange scheme. Default: {@code sync}: an fsync pushes the gradient and pulls the weights. */
    public MountContext exchange(ExchangeScheme value) {
        this.exchange = value;
        return this;
    }

    /** Sets the policy that decides when the overlap exchange pulls. Default: adaptive. */
    public MountContext pull(PullPolicy value) {
        this.pull = value;
        return this;
    }

    /** Sets what the learner sees after a shard has gone back to earlier weights. Default: {@link OnRollback#FAIL}. */
    public MountContext onRollback(OnRollback value) {
        this.onRollback = value;
        return this;
    }

    /**
     * Sets whether unrelated processes can have {@code model} or {@code mapped/control} open for writing at the same time.
     * They are then one learner together. Default: false.
     */
    public MountContext shared(boolean value) {
        this.shared = value;
        return this;
    }

    /** Sets the text that status.json shows about the datamovers in use and the reasons for the choice. Default: empty. */
    public MountContext datamover(String value) {
        this.datamover = value;
        return this;
    }

    /** Sets the request sizes and queue depths that status.json shows for each datamover. Default: empty. */
    public MountContext tuning(Map<String, List<TunedSize>> value) {
        this.tuning = value;
        return this;
    }

    /** Sets the owner and the permissions of the files. Default: {@link FileAccess#ofThisUser}. */
    public MountContext access(FileAccess value) {
        this.access = value;
        return this;
    }

    /** Sets the implementation of FUSE. Default: {@link FuseBinding#DEFAULT}. */
    public MountContext binding(FuseBinding value) {
        this.binding = value;
        return this;
    }

    /**
     * Sets the handover, which holds the state from the previous process and keeps the state for the next process. The caller
     * must close the handover after the mount. Default: {@link Handover#none}.
     */
    public MountContext handover(Handover value) {
        this.handover = value;
        return this;
    }

    /** Returns the part of this configuration that the FUSE binding needs. */
    FuseOptions fuseOptions() {
        return new FuseOptions(source, dataRequests, access, exchange == ExchangeScheme.DIRECT, remoteModel.follows(),
            NanoClock.SYSTEM, remoteModel::allocate, handover);
    }

    /**
     * Checks every value. Returns this context.
     *
     * @throws IllegalArgumentException if a value is missing or invalid; the message names the value and its valid range
     */
    public MountContext conclude() {
        Arguments.require(directory != null, "the directory of the mount is not set");
        Arguments.require(source != null && !source.isEmpty(), "source=" + source + " must not be empty");
        Arguments.require(remoteModel != null, "the remote model of the mount is not set");
        Arguments.require(!remoteModel.follows() || exchange == ExchangeScheme.DIRECT, "exchange=" + exchange
            + " is for learners: a read-only mount needs exchange=direct, because it has no gradient to push");
        return this;
    }

    /** Returns the effective configuration as text. */
    @Override
    public String toString() {
        return "directory=" + directory + " learner=" + remoteModel.learner() + " follows=" + remoteModel.follows()
            + " exchange=" + exchange + " pull=" + pull + " onRollback="
            + onRollback + " shared=" + shared + " binding=" + binding.name() + " datamover=" + datamover + " tuning="
            + tuning
            + " access=" + access;
    }
}
