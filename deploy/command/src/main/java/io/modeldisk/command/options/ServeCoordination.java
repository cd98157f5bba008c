package io.modeldisk.command.options;

import io.modeldisk.command.address.CoordinatedModel;
import io.modeldisk.command.address.LearnerLabel;
import io.modeldisk.fault.coordination.CoordinatorContext;
import io.modeldisk.fault.coordination.CoordinatorSecret;
import io.modeldisk.fault.coordination.ShardRole;
import io.modeldisk.fault.coordination.ShardRoleContext;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.TargetPortGroups;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.scsi.AccessState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;

/** The options of a shard for the coordinator. */
public final class ServeCoordination {
    private static final Pattern PORT_GROUP = Pattern.compile("(\\d{1,3})/(\\d{1,3})");

    @Option(names = "--coordinator", paramLabel = "HOST:PORT", split = ",",
        description = "The servers of ZooKeeper (see `modeldisk coordinator`) that decide which process serves the shard. "
            + "Several processes may have the same --shard: one serves, the others wait and replace it if it stops.")
    private List<String> coordinator = List.of();

    @Option(names = "--coordinator-session", paramLabel = "TIME",
        description = "The session time-out with ZooKeeper, from 1s to 60s. A shard that receives nothing from ZooKeeper for "
            + "four fifths of this time stops serving; it serves again if no other process has replaced it.")
    private Duration session = CoordinatorContext.DEFAULT_SESSION;

    @Option(names = "--replace-after", paramLabel = "TIME",
        description = "The time from the end of the serving process's session until a waiting process replaces the serving "
            + "process. The waiting process then begins with the newest checkpoint in --state, or with --from or --size.")
    private Duration replaceAfter = ShardRoleContext.DEFAULT_START_ANEW_AFTER;

    @Option(names = "--advertise", paramLabel = "HOST:PORT",
        description = "The address under which mounts reach this shard. Default: --listen.")
    private String advertise;

    @Option(names = "--port-group", paramLabel = "I/N",
        description = "The number of this process, from 1, among the N processes that may serve the shard. A process that waits "
            + "then listens too, and multipath initiators see it as a standby path to the same disks (ALUA). Needs "
            + "--coordinator. By default, a process that waits does not listen.")
    private String portGroup;

    /**
     * Returns the target port groups of the shard. If there are several groups, the group of this process begins in the state
     * standby.
     *
     * @throws IllegalArgumentException if --port-group is not valid; the message shows the correct form
     */
    public TargetPortGroups portGroups() {
        if (portGroup == null) {
            return TargetPortGroups.single();
        }
        Matcher place = PORT_GROUP.matcher(portGroup);
        Arguments.require(place.matches(),
            "--port-group '" + portGroup + "' must be I/N; write 1/2 for the first of two processes");
        Arguments.require(isUsed(), "--port-group " + portGroup
            + " needs --coordinator, which decides which of the processes serves the shard");
        return new TargetPortGroups(Integer.parseInt(place.group(1)), Integer.parseInt(place.group(2)),
            AccessState.STANDBY);
    }

    /** Returns whether --coordinator is set. */
    public boolean isUsed() {
        return !coordinator.isEmpty();
    }

    /**
     * Returns the address under which other processes find all shards of a model. The address contains the coordinator, or if
     * there is none, the addresses in --peers. Returns null if there is no coordinator and --peers does not contain all shards.
     */
    public String modelAddress(String model, List<String> peers, int shards) {
        if (isUsed()) {
            return CoordinatedModel.address(coordinator, model);
        }
        // With port groups, the addresses of the other groups follow those of the first group.
        return peers.size() < shards ? null : "modeldisk://" + String.join(",", peers.subList(0, shards)) + "/" + model;
    }

    /** The session time-out with ZooKeeper. */
    public Duration session() {
        return session;
    }

    /** Registers this process as a replica of the shard. */
    public ShardRole register(ModelFacts facts, InetSocketAddress listen, AccessPolicy access, Runnable changed)
        throws IOException {
        Arguments.require(advertise != null || !listen.getAddress().isAnyLocalAddress(),
            "--listen " + TargetAddress.text(listen)
                + " is not an address to which mounts can connect; give --advertise HOST:PORT");
        CoordinatorContext connection = new CoordinatorContext(coordinator.stream()
            .map(server -> TargetAddress.parse(server, CoordinatorContext.DEFAULT_PORT)).toList(), session)
            .withSecret(secret(access.secrets()));
        if (connection.secret() == null) {
            checkLoopback(access.insecure());
        }
        return ShardRole.register(new ShardRoleContext(connection, facts.model(), facts.shard(), facts.shards(),
            options(facts), listen.getPort() == 0 ? null : address(listen), LearnerLabel.hostName(), replaceAfter,
            changed, NanoClock.SYSTEM));
    }

    /** Returns the secret of the line {@code zookeeper} of a secrets file; null if there is none. */
    public static CoordinatorSecret secret(ChapSecrets secrets) {
        return secrets != null && secrets.hasZookeeper()
            ? new CoordinatorSecret(secrets.zookeeperName(), secrets.zookeeperSecret())
            : null;
    }

    private void checkLoopback(boolean insecure) {
        for (String server : coordinator) {
            InetAddress address = TargetAddress.parse(server, CoordinatorContext.DEFAULT_PORT).getAddress();
            Arguments.require(insecure || address == null || address.isLoopbackAddress(),
                "other machines could change the data of this shard at --coordinator " + server
                    + "; add a line 'zookeeper NAME SECRET' to --secrets, or give --insecure");
        }
    }

    /**
     * Returns the address to which mounts connect: the address in --advertise, or without this option the address at which the
     * shard listens.
     */
    public String address(InetSocketAddress listen) {
        return TargetAddress.text(
            advertise == null ? listen : TargetAddress.parse(advertise, listen.getPort()));
    }

    /** Returns the properties that must be equal in all processes of a model, by their names in messages. */
    public static Map<String, String> options(ModelFacts facts) {
        Map<String, String> options = new TreeMap<>();
        options.put("size", Long.toString(facts.sizeBytes()));
        options.put("block size", Integer.toString(facts.blockSizeBytes()));
        options.put("aggregator", facts.aggregator());
        options.put("consistency", facts.consistency());
        options.put("number of learners", Integer.toString(facts.learners()));
        options.put("minimum number of learners", Integer.toString(facts.minLearners()));
        options.put("policy for NaN and infinity", facts.nonFinite());
        options.put("version of the protocol", Integer.toString(facts.protocol()));
        options.put("source of the initial weights", String.valueOf(facts.source()));
        return options;
    }
}
