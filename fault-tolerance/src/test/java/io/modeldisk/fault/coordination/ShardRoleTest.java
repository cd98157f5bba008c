package io.modeldisk.fault.coordination;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests several roles for one shard in this process. The threads of the roles do not run; instead, the tests call
 * {@link ShardRole#step} and {@link ShardRole#watch}.
 */
@Timeout(120)
final class ShardRoleTest {
    private static final Duration SESSION = Duration.ofSeconds(20);
    private static final Duration START_ANEW_AFTER = Duration.ofSeconds(10);

    @TempDir
    private Path directory;

    private final ManualClock clock = new ManualClock();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private Coordinator coordinator;
    private CoordinatorClient observer;
    private ShardRole first;
    private ShardRole second;

    @BeforeEach
    void launch() throws IOException {
        coordinator = Coordinator.launch(new InetSocketAddress("127.0.0.1", 0), directory, null);
        observer = client();
        first = role();
        second = role();
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        coordinator.close();
    }

    private CoordinatorContext context() {
        return new CoordinatorContext(List.of(coordinator.localAddress()), SESSION);
    }

    private CoordinatorClient client() throws IOException {
        CoordinatorClient client = CoordinatorClient.connect(context());
        opened.add(client);
        return client;
    }

    private ShardRoleContext roleContext(NanoClock on) {
        return roleContext(on, Map.of("size", "4096"), 1);
    }

    private ShardRoleContext roleContext(NanoClock on, Map<String, String> options, int shards) {
        return new ShardRoleContext(context(), "m", 0, shards, options, null, "localhost", START_ANEW_AFTER, () -> {},
            on);
    }

    private ShardRole role(ShardRoleContext context) throws IOException {
        ShardRole role = new ShardRole(context, CoordinatorClient.connect(context.coordinator()));
        opened.add(role);
        role.registerFirst();
        return role;
    }

    private ShardRole role() throws IOException {
        return role(roleContext(clock));
    }

    private Leader leader() throws Exception {
        return Records.read("", observer.run(curator -> curator.getData().forPath("/modeldisk/m/shards/0/leader")),
            Leader.class);
    }

    /** Ends the session of a role in the ZooKeeper server, as if the process had been silent for too long. */
    private void expire(ShardRole role) throws Exception {
        String path = "/modeldisk/m/shards/0/replicas/" + role.id();
        long session = observer.run(curator -> curator.checkExists().forPath(path)).getEphemeralOwner();
        coordinator.expireSession(session);
        await("the znode of the session is gone",
            () -> observer.run(curator -> curator.checkExists().forPath(path)) == null);
    }

    private static void assertStepLeadsTo(RoleState expected, ShardRole role) {
        role.step();
        assertThat(role.state()).isEqualTo(expected);
    }

    private void stepUntil(ShardRole role, RoleState wanted) {
        await("the role becomes " + wanted, () -> {
            role.step();
            return role.state() == wanted;
        });
    }

    private void watchUntil(ShardRole role, RoleState wanted) {
        await("the role becomes " + wanted, () -> {
            role.watch();
            return role.state() == wanted;
        });
    }

    @Test
    void firstReplicaIsPrimaryOfEpochOneAndTheNextOnesWait() throws Exception {
        assertThat(first.state()).isEqualTo(RoleState.PRIMARY);
        assertThat(first.mayServe()).isTrue();
        assertThat(second.state()).isEqualTo(RoleState.STANDBY);
        assertThat(second.mayServe()).isFalse();
        assertThat(leader()).isEqualTo(new Leader(1, first.id(), null, Set.of(first.id()), null));
    }

    @Test
    void addressOfThePrimaryIsPublished() throws Exception {
        first.serves("10.0.0.1:3260");
        first.step();
        assertThat(leader().address()).isEqualTo("10.0.0.1:3260");
    }

    @Test
    void replicaInSyncTakesOverAtOnceAndOthersWait() throws Exception {
        ShardRole behind = role();
        first.inSync(Set.of(first.id(), second.id()));
        expire(first);
        behind.step();
        clock.advance(START_ANEW_AFTER.multipliedBy(2));
        assertStepLeadsTo(RoleState.STANDBY, behind);
        assertStepLeadsTo(RoleState.PRIMARY, second);
        assertThat(second.hadAllUpdates()).isTrue();
        assertThat(leader()).isEqualTo(new Leader(2, second.id(), null, Set.of(second.id()), null));
    }

    /** Offers the next epoch of the first role, which is primary, to the second. */
    private void offer() throws Exception {
        first.inSync(Set.of(first.id(), second.id()));
        first.offer(second.id());
        stepUntil(second, RoleState.SUCCESSOR);
    }

    /** Calls {@link ShardRole#accept} for the second role, which then does a step. Returns the result of the call. */
    private RoleState accept() throws Exception {
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            Future<RoleState> accepted = threads.submit(() -> second.accept("h:2"));
            await("the role waits for the answer", () -> second.servedAddress() != null || accepted.isDone());
            second.step();
            return accepted.get();
        }
    }

    @Test
    void successorServesInTheNextEpochOnlyAfterItHasAccepted() throws Exception {
        offer();
        second.step();
        assertThat(leader())
            .isEqualTo(new Leader(1, first.id(), null, Set.of(first.id(), second.id()), second.id()));
        assertThat(second.mayServe()).isFalse();
        assertThat(accept()).isEqualTo(RoleState.PRIMARY);
        assertThat(leader()).isEqualTo(new Leader(2, second.id(), "h:2", Set.of(second.id()), null));
        assertThat(second.hadAllUpdates()).isTrue();
        assertStepLeadsTo(RoleState.STANDBY, first);
    }

    @Test
    void primaryContinuesToServeIfItsSuccessorEndsBeforeAccepting() throws Exception {
        offer();
        expire(second);
        first.step();
        assertThat(first.replicas()).doesNotContainKey(second.id());
        first.withdraw(second.id());
        assertThat(leader()).isEqualTo(new Leader(1, first.id(), null, Set.of(first.id()), null));
        assertThat(first.mayServe()).isTrue();
        stepUntil(second, RoleState.STANDBY);
    }

    @Test
    void successorCannotAcceptAfterThePrimaryHasAcknowledgedAnUpdateWithoutIt() throws Exception {
        offer();
        first.inSync(Set.of(first.id()));
        assertThat(accept()).isEqualTo(RoleState.STANDBY);
        assertThat(leader().epoch()).isEqualTo(1);
    }

    @Test
    void successorTakesOverIfThePrimaryEndsBeforeTheSuccessorAccepts() throws Exception {
        offer();
        expire(first);
        assertStepLeadsTo(RoleState.PRIMARY, second);
        assertThat(second.hadAllUpdates()).isTrue();
        assertThat(leader()).isEqualTo(new Leader(2, second.id(), null, Set.of(second.id()), null));
    }

    @Test
    void otherReplicasStayInSyncWhenAProcessTakesOver() throws Exception {
        ShardRole third = role();
        first.inSync(Set.of(first.id(), second.id(), third.id()));
        expire(first);
        assertStepLeadsTo(RoleState.PRIMARY, second);
        expire(second);
        assertStepLeadsTo(RoleState.PRIMARY, third);
        assertThat(third.hadAllUpdates()).isTrue();
    }

    @Test
    void primaryThatGoesBackBeginsAnEpochInWhichNoOtherReplicaIsInSync() throws Exception {
        first.inSync(Set.of(first.id(), second.id()));
        first.renew();
        assertThat(first.mayServe()).isTrue();
        assertThat(first.epoch()).isEqualTo(2);
        assertThat(first.hadAllUpdates()).isFalse();
        assertThat(leader()).isEqualTo(new Leader(2, first.id(), null, Set.of(first.id()), null));
        assertStepLeadsTo(RoleState.PRIMARY, first);
    }

    @Test
    void replicaOutOfSyncServesFromACheckpointOnlyAfterTheTimeLimit() throws Exception {
        expire(first);
        second.step();
        clock.advance(START_ANEW_AFTER.minusNanos(1));
        assertStepLeadsTo(RoleState.STANDBY, second);
        clock.advance(Duration.ofNanos(1));
        assertStepLeadsTo(RoleState.PRIMARY, second);
        assertThat(second.epoch()).isEqualTo(2);
        assertThat(second.hadAllUpdates()).isFalse();
        assertThat(leader().inSync()).containsExactly(second.id());
    }

    @Test
    void replicaWaitsTheWholeTimeLimitAgainAfterThePrimaryHasReturned() throws Exception {
        expire(first);
        second.step();
        watchUntil(first, RoleState.FENCED);
        stepUntil(first, RoleState.PRIMARY);
        second.step();
        expire(first);
        second.step();
        clock.advance(START_ANEW_AFTER.minusNanos(1));
        assertStepLeadsTo(RoleState.STANDBY, second);
    }

    @Test
    void replicaNeedNotWaitForAPrimaryThatStoppedInOrder() throws Exception {
        first.close();
        assertStepLeadsTo(RoleState.PRIMARY, second);
        assertThat(second.epoch()).isEqualTo(2);
    }

    @Test
    void onlyOneOfSeveralCandidatesTakesOver() throws Exception {
        List<ShardRole> candidates = List.of(first, second, role(), role());
        CyclicBarrier together = new CyclicBarrier(3);
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            for (long epoch = 2; epoch <= 6; epoch++) {
                ShardRole primary = candidates.stream().filter(each -> each.state() == RoleState.PRIMARY).findAny()
                    .orElseThrow();
                Set<String> all = Set.copyOf(candidates.stream().map(ShardRole::id).toList());
                primary.inSync(all);
                expire(primary);
                List<Future<?>> steps = new ArrayList<>();
                for (ShardRole candidate : candidates) {
                    if (candidate != primary) {
                        steps.add(threads.submit(() -> {
                            together.await();
                            candidate.step();
                            return null;
                        }));
                    }
                }
                for (Future<?> step : steps) {
                    step.get();
                }
                stepUntil(primary, RoleState.STANDBY);
                assertThat(candidates.stream().filter(each -> each.state() == RoleState.PRIMARY)).hasSize(1);
                assertThat(leader().epoch()).isEqualTo(epoch);
            }
        }
    }

    @Test
    void takeOverFailsIfThePrimaryReturnsBetweenTheCheckAndTheWrite() throws Exception {
        ShardZnodes znodes = new ShardZnodes(roleContext(clock), second.id());
        CoordinatorClient client = client();
        ShardZnodes.Versioned seen = client.run(curator -> znodes.leader(curator.getZookeeperClient().getZooKeeper()));
        expire(first);
        watchUntil(first, RoleState.FENCED);
        stepUntil(first, RoleState.PRIMARY);
        assertThatThrownBy(() -> client.run(curator -> {
            znodes.writeLeader(curator.getZookeeperClient().getZooKeeper(), seen.leader().next(second.id(), Set.of()),
                seen.version());
            return null;
        })).isInstanceOf(org.apache.zookeeper.KeeperException.BadVersionException.class);
        assertThat(leader().epoch()).isEqualTo(1);
    }

    @Test
    void primaryStopsServingWhenItsSessionEndsAndServesAgainInTheSameEpoch() throws Exception {
        expire(first);
        watchUntil(first, RoleState.FENCED);
        assertThat(first.mayServe()).isFalse();
        stepUntil(first, RoleState.PRIMARY);
        assertThat(first.mayServe()).isTrue();
        assertThat(first.epoch()).isEqualTo(1);
    }

    @Test
    void primaryStopsServingAfterFourFifthsOfTheSessionTimeoutWithoutAnAnswer() throws Exception {
        Duration lease = SESSION.multipliedBy(4).dividedBy(5);
        clock.advance(lease.minusNanos(1));
        assertThat(first.mayServe()).isTrue();
        clock.advance(Duration.ofNanos(1));
        assertThat(first.mayServe()).isFalse();
        first.watch();
        assertThat(first.state()).isEqualTo(RoleState.FENCED);
    }

    @Test
    void answerOfZooKeeperProlongsTheLeaseOfThePrimary() throws Exception {
        clock.advance(SESSION.dividedBy(2));
        first.watch();
        clock.advance(SESSION.dividedBy(2));
        await("the answer has prolonged the lease", first::mayServe);
    }

    @Test
    void pausedPrimaryNeverServesAtTheSameTimeAsItsSuccessor() throws Exception {
        ManualClock running = new ManualClock();
        ShardRole successor = role(roleContext(running));
        expire(first);
        clock.advance(SESSION);
        successor.step();
        running.advance(START_ANEW_AFTER);
        assertStepLeadsTo(RoleState.PRIMARY, successor);
        assertThat(first.state()).isEqualTo(RoleState.PRIMARY);
        assertThat(first.mayServe()).isFalse();
        stepUntil(first, RoleState.STANDBY);
        assertThat(first.mayServe()).isFalse();
        assertThat(successor.mayServe()).isTrue();
    }

    @Test
    void primaryBecomesStandbyWhenAnotherProcessHasTheNextEpoch() throws Exception {
        Leader other = first.leader().next("other", Set.of("other"));
        observer.run(curator -> curator.create().withMode(CreateMode.EPHEMERAL)
            .forPath("/modeldisk/m/shards/0/replicas/other", Records.write(new Replica(null, "h"))));
        observer.run(curator -> curator.setData().forPath("/modeldisk/m/shards/0/leader", Records.write(other)));
        assertThatThrownBy(() -> first.inSync(Set.of())).isInstanceOf(IOException.class)
            .hasMessageContaining("this process is not the primary of shard 0 of model m");
        assertStepLeadsTo(RoleState.STANDBY, first);
    }

    @Test
    void otherOptionsAreRefusedAsLongAsAProcessIsRegistered() throws Exception {
        Map<String, String> other = Map.of("size", "8192");
        assertThatThrownBy(() -> role(roleContext(clock, other, 1))).isInstanceOf(IOException.class)
            .hasMessageContaining("have other options: its size is 8192 in this process, but 4096 in the model")
            .hasMessageContaining("or another --model");
        assertThatThrownBy(() -> role(roleContext(clock, Map.of("size", "4096"), 2)))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("this process has 2 shards, but the model has 1");
        first.close();
        second.close();
        assertThat(role(roleContext(clock, other, 1)).state()).isEqualTo(RoleState.PRIMARY);
    }

    @Test
    void roleContinuesAfterARestartOfZooKeeper() throws Exception {
        InetSocketAddress address = coordinator.localAddress();
        coordinator.close();
        clock.advance(SESSION);
        first.watch();
        assertThat(first.state()).isEqualTo(RoleState.FENCED);
        coordinator = Coordinator.launch(address, directory, null);
        stepUntil(first, RoleState.PRIMARY);
        assertThat(first.epoch()).isEqualTo(1);
    }

    @Test
    void modelWatchShowsLeadersAndReplicas() throws Exception {
        assertThatThrownBy(() -> ModelWatch.open(context(), "x", NanoClock.SYSTEM)).isInstanceOf(IOException.class)
            .hasMessageContaining("knows no model 'x'");
        try (ModelWatch watch = ModelWatch.open(context(), "m", NanoClock.SYSTEM)) {
            assertThat(watch.model().shards()).isEqualTo(1);
            assertThat(watch.leader(0).replica()).isEqualTo(first.id());
            first.serves("h:1");
            first.step();
            await("the address has arrived", () -> "h:1".equals(watch.leader(0).address()));
            ShardRole third = role();
            await("the standby has arrived",
                () -> watch.replicas(0).keySet().equals(Set.of(first.id(), second.id(), third.id())));
        }
    }
}
