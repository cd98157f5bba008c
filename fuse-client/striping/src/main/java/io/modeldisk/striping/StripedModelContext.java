package io.modeldisk.striping;

import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.DurationText;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.TransferSizes;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Function;

/** The configuration of a connection to a model. The connection reads the fields after {@link #conclude}. Not thread-safe. */
public final class StripedModelContext {
    /** The default time for which a pull or push waits for other learners' rounds before it fails. */
    public static final Duration DEFAULT_WAIT_TIMEOUT = Duration.ofMinutes(10);

    /** The default time for which a call tries to reach a lost shard again: twice the default lease of a shard. */
    public static final Duration DEFAULT_RECONNECT_TIMEOUT = Duration.ofSeconds(10);

    private static final String LABEL_FORM = "[A-Za-z0-9.:-]{0,47}[A-Za-z0-9:-]";

    final ShardLocator locator;
    final SessionContext sessions = new SessionContext();
    final IserProvider.Connections iserConnections = IserProvider.find().connections();
    String learner = "learner";
    boolean follower;
    /** The maximum number of calls in progress. A further call waits. */
    int concurrentCalls = 64;
    Duration waitTimeout = DEFAULT_WAIT_TIMEOUT;
    Duration reconnectTimeout = DEFAULT_RECONNECT_TIMEOUT;
    ValueType dtype = ValueType.FLOAT32;
    Route.Preference datamover = Route.Preference.TCP;
    Path socketDirectory = SocketPath.defaultDirectory();
    private Function<String, TransferSizes> sizes = _ -> TransferSizes.DEFAULTS;

    /**
     * Creates the configuration of a connection to the model whose shards {@code locator} finds. The caller closes the locator.
     */
    public StripedModelContext(ShardLocator locator) {
        this.locator = locator;
    }

    /**
     * Sets the label of the learner: 1 to 48 letters, digits, dots, colons or hyphens, without a dot at the end. Two processes
     * with the same label cannot be learners at the same time.
     */
    public StripedModelContext learner(String label) {
        this.learner = label;
        return this;
    }

    /** Sets whether this process only follows the model, which the status of the shards then shows; false by default. */
    public StripedModelContext follower(boolean only) {
        this.follower = only;
        return this;
    }

    /**
     * Changes the sessions' secrets, digests, time limits and the clock of all timeouts. The connection sets all other settings.
     */
    public StripedModelContext sessions(Consumer<SessionContext> changes) {
        changes.accept(sessions);
        return this;
    }

    /** Sets the sizes of transfers, as a function of the datamover's name. */
    public StripedModelContext sizes(Function<String, TransferSizes> ofDatamover) {
        this.sizes = ofDatamover;
        return this;
    }

    /** Sets the time for which a pull or push waits for other learners' rounds; 10 min by default. */
    public StripedModelContext waitTimeout(Duration timeout) {
        this.waitTimeout = timeout;
        return this;
    }

    /** Sets the time for which a call tries to reach a lost shard again; 10 s by default. With 0, the call tries once. */
    public StripedModelContext reconnectTimeout(Duration timeout) {
        this.reconnectTimeout = timeout;
        return this;
    }

    /** Sets the type of the weights that are pulled and of the gradients that are pushed; float32 by default. */
    public StripedModelContext dtype(ValueType type) {
        this.dtype = type;
        return this;
    }

    /** Sets the preferred datamover; TCP by default. */
    public StripedModelContext datamover(Route.Preference preference) {
        this.datamover = preference;
        return this;
    }

    /** Sets the directory of the sockets over which shards on this host offer shared memory. */
    public StripedModelContext socketDirectory(Path directory) {
        this.socketDirectory = directory;
        return this;
    }

    /**
     * Checks every value.
     *
     * @throws IllegalArgumentException if a value is invalid; the message names the value and its valid range
     */
    public StripedModelContext conclude() {
        Arguments.require(locator != null, "the address of the model is not set");
        Arguments.require(learner.matches(LABEL_FORM),
            "learner '" + learner
                + "' must be 1 to 48 letters, digits, dots, colons or hyphens, without a dot at the end");
        Arguments.require(waitTimeout.isPositive(),
            "waitTimeout=" + DurationText.format(waitTimeout) + " must be longer than 0s");
        Arguments.require(!reconnectTimeout.isNegative(),
            "reconnectTimeout=" + reconnectTimeout + " must not be negative");
        return this;
    }

    /** Returns the configuration of a session with a shard. The caller must still set the initiator and the learner. */
    SessionContext session(int shard, InetSocketAddress portal, Route route) {
        return sessions.copy().portal(portal).shard(shard).over(route.portal())
            .targetName(ModelFacts.TARGET_PREFIX + locator.model()).sizes(sizes(route));
    }

    TransferSizes sizes(Route route) {
        return sizes.apply(route.portal().datamover());
    }

    /** Returns the label of the sessions that do not belong to a learner. */
    String observer() {
        return learner + (follower ? AwaitCommand.FOLLOWER_SUFFIX : "(mount)");
    }

    String initiatorName() {
        return initiatorName(learner);
    }

    /** Returns the initiator name of a learner. */
    public static String initiatorName(String learner) {
        return "iqn.2026-11.io.modeldisk.learner:" + learner.toLowerCase(Locale.ROOT);
    }

    Reconnection reconnection() {
        return new Reconnection(clock(), reconnectTimeout.toNanos());
    }

    NanoClock clock() {
        return sessions.clock();
    }
}
