package io.modeldisk.command;

import io.modeldisk.command.options.ServeCoordination;
import io.modeldisk.command.process.ServiceNotices;
import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.fault.checkpoint.StartAgainException;
import io.modeldisk.fault.coordination.Leader;
import io.modeldisk.fault.coordination.RoleState;
import io.modeldisk.fault.coordination.ShardRole;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.TargetPortGroups;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.scsi.AccessState;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.ServerContext;
import io.modeldisk.server.role.ReplicaServer.Contexts;
import io.modeldisk.server.role.ReplicaServer.Registration;
import io.modeldisk.server.role.ServerObserver;
import io.modeldisk.server.role.StandbyServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Launches a shard, and serves it until the process is stopped. The shard is launched again if it must go back to a checkpoint.
 * With a coordinator, it is launched each time that this process becomes its primary.
 */
final class ServeLoop {
    private static final Logger LOG = LogManager.getLogger(ServeLoop.class);

    private final Contexts contexts;
    private final ServeCoordination coordination;
    private final ServiceNotices notices;
    private final Function<ParameterServer, String> ready;
    private final ServerObserver observer;
    private final String suffix;
    private final TargetPortGroups portGroups;
    private final Semaphore wake = new Semaphore(0);
    private final ServiceNotices.Work work = new ShardWork(() -> this.serving, NanoClock.SYSTEM);
    private volatile boolean goBack;
    /** The server that this process opened last; null if it is closed. */
    private volatile ParameterServer serving;
    /** The server that answers at {@link #address} while another process serves the shard; null if no such server is open. */
    private StandbyServer standby;
    /** The address of the first launch. Each later launch uses the same port. */
    private InetSocketAddress address;
    private boolean announced;
    private long startAtMost = CheckpointSettings.ANY;

    /**
     * Creates a loop.
     *
     * @param notices prints a line when the shard is ready for the first time, and when it is ready again after another process
     *     has served it
     * @param ready returns the line for a server that is ready
     * @param observer receives each server that this process opens
     * @param suffix the end of the line that is printed when this process starts to wait as a standby
     */
    ServeLoop(Contexts contexts, ServeCoordination coordination, ServiceNotices notices,
        Function<ParameterServer, String> ready, ServerObserver observer, String suffix) {
        this.contexts = contexts;
        this.coordination = coordination;
        this.notices = notices;
        this.portGroups = coordination.portGroups();
        this.ready = ready;
        this.observer = observer;
        this.suffix = suffix;
    }

    /** Serves without a coordinator. Ends only with an exception. */
    void runAlone() throws IOException, InterruptedException {
        while (true) {
            launch(contexts.create(startAtMost), null);
        }
    }

    /**
     * Serves whenever this process is the primary. Ends only with an exception.
     *
     * @param listen the address in the options; its port can be 0
     */
    void run(Registration registration, InetSocketAddress listen) throws IOException, InterruptedException {
        ModelFacts facts = contexts.create(startAtMost).conclude().facts();
        try (ShardRole role = registration.register(facts, listen, wake::release)) {
            while (true) {
                awaitPrimary(role, facts);
                launch(contexts.create(startAtMost).mayServe(role::mayServe), role);
            }
        } finally {
            closeStandby();
        }
    }

    private void awaitPrimary(ShardRole role, ModelFacts facts) throws IOException, InterruptedException {
        if (role.state() == RoleState.STANDBY) {
            announced = false;
            observer.waits(facts, () -> epochOf(role.leader()));
            launchStandby(role);
            Leader leader = role.leader();
            notices.ready(
                PlainText.format("standby: shard %d/%d of model %s waits%s%s%s", facts.shard(), facts.shards(),
                    facts.model(), standby == null ? "" : " on " + TargetAddress.text(address),
                    leader == null
                        ? ""
                        : PlainText.format("; epoch %d belongs to %s", leader.epoch(),
                            leader.address() == null ? "a process that is not ready" : leader.address()),
                    suffix),
                null);
        }
        // While this process waits for its turn as the primary, the service manager does not expect progress.
        notices.work(null);
        role.awaitTurn();
        notices.work(work);
    }

    private void launchStandby(ShardRole role) throws IOException {
        if (portGroups.count() > 1 && standby == null) {
            standby = StandbyServer.launch(settled(contexts.create(startAtMost)),
                () -> epochOf(role.leader()));
            address = standby.localAddress();
        }
    }

    private static long epochOf(Leader leader) {
        return leader == null ? 0 : leader.epoch();
    }

    private void closeStandby() {
        if (standby != null) {
            standby.close();
            standby = null;
        }
    }

    /** Sets the state of this process's target port group, if the shard has several groups. */
    private void become(AccessState state) {
        if (portGroups.count() > 1) {
            portGroups.become(state);
        }
    }

    private ServerContext settled(ServerContext context) {
        return address == null ? context.portGroups(portGroups) : context.portGroups(portGroups).listen(address);
    }

    private void launch(ServerContext context, ShardRole role) throws IOException, InterruptedException {
        long epoch = role == null ? 0 : role.epoch();
        goBack = false;
        LOG.info("effective configuration:\n{}", settled(context).goBack(this::goBack).conclude());
        become(AccessState.TRANSITIONING);
        try (ParameterServer server = ParameterServer.launch(context, this::closeStandby)) {
            become(AccessState.ACTIVE);
            observer.opened(server);
            serve(server, role, epoch);
        } catch (StartAgainException e) {
            startAtMost = Math.min(startAtMost, e.startAtMost());
            LOG.warn("{}; this shard loads the same checkpoint", e.getMessage());
        }
    }

    private void serve(ParameterServer server, ShardRole role, long epoch) throws IOException, InterruptedException {
        String end = "the shard stops";
        try {
            address = server.localAddress();
            startAtMost = CheckpointSettings.ANY;
            serving = server;
            if (announced) {
                notices.work(work);
            } else {
                announced = true;
                notices.ready(ready.apply(server), work);
            }
            if (role != null) {
                role.serves(coordination.address(address));
            }
            while (!goBack && (role == null || holds(role, epoch))) {
                wake.acquire();
            }
            become(AccessState.STANDBY);
            end = goBack ? "the shard goes back to a checkpoint" : "another process serves the shard";
        } catch (InterruptedException e) {
            observer.closes(end);
            server.stop();
            throw e;
        } finally {
            serving = null;
            // The close of the server can make a running check fail. This call prevents a report of that failure.
            notices.work(work);
            observer.closes(end);
        }
    }

    private void goBack() {
        goBack = true;
        wake.release();
    }

    /** Returns true if no other process has served the shard since this process became its primary with this epoch. */
    private static boolean holds(ShardRole role, long epoch) {
        RoleState state = role.state();
        return (state == RoleState.PRIMARY || state == RoleState.FENCED) && role.epoch() == epoch;
    }
}
