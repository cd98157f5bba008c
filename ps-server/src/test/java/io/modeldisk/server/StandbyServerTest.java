package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.engine.DiskUnit;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.TargetPortGroups;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.AccessState;
import io.modeldisk.server.fake.Roles;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.role.StandbyServer;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a process that is a standby of a shard, and its change from standby to serving. */
@Timeout(60)
class StandbyServerTest {
    private static final int SIZE = 32768;

    private final DataMemory memory = DataMemory.allocate(SIZE);
    private final TargetPortGroups groups = new TargetPortGroups(2, 2, AccessState.STANDBY);
    private StandbyServer standby;
    private ParameterServer server;
    private CompletableFuture<Void> push = CompletableFuture.completedFuture(null);

    @AfterEach
    void close() {
        if (standby != null) {
            standby.close();
        }
        if (server != null) {
            server.close();
        }
        push.handle((_, _) -> null).join();
        memory.close();
    }

    private ServerContext context(int port) {
        return new ServerContext().consistency("asp").model("m").sizeBytes(SIZE).blockSizeBytes(4096)
            .aggregator("sum", new SumAggregator()).listen(new InetSocketAddress("127.0.0.1", port)).portGroups(groups);
    }

    private static StripedModel connect(InetSocketAddress address) throws IOException {
        return StripedModel
            .connect(new StripedModelContext(ModelAddress.parse("modeldisk://127.0.0.1:" + address.getPort() + "/m"))
                .reconnectTimeout(Duration.ofSeconds(30)));
    }

    @Test
    void standbyHasTheIdentitiesAndSizesOfTheShardsUnits() throws IOException {
        ServerContext context = context(0);
        try (ShardModel shard = ShardModel.open(context)) {
            List<LogicalUnit> own = shard.target().units();
            List<LogicalUnit> ofStandby = new StandbyServer.StandbyTarget(context.facts(), groups, () -> 3)
                .units();
            assertThat(ofStandby).hasSameSizeAs(own);
            for (int i = 0; i < own.size(); i++) {
                assertThat(ofStandby.get(i).identity()).isEqualTo(own.get(i).identity());
                assertThat(ofStandby.get(i).sizeBytes()).isEqualTo(own.get(i).sizeBytes());
                assertThat(ofStandby.get(i).optimalTransferBytes()).isEqualTo(own.get(i).optimalTransferBytes());
                assertThat(ofStandby.get(i).vendorCommands()).isEqualTo(own.get(i).vendorCommands());
                assertThat(ofStandby.get(i) instanceof DiskUnit).isEqualTo(own.get(i) instanceof DiskUnit);
            }
        }
    }

    @Test
    void statusOfAStandbyShowsItsRoleAndTheEpochOfThePrimary() throws Exception {
        standby = StandbyServer.launch(context(0), () -> 3);
        try (StripedModel model = connect(standby.localAddress())) {
            assertThat(model.status().path(0).path("replication").toString())
                .isEqualTo("{\"role\":\"standby\",\"epoch\":3}");
        }
    }

    @Test
    void pushToAStandbySucceedsAfterItsProcessBeginsToServe() throws Exception {
        standby = StandbyServer.launch(context(0), () -> 3);
        InetSocketAddress address = standby.localAddress();
        try (StripedModel model = connect(address)) {
            memory.slab(0).set(ValueLayout.JAVA_FLOAT, 0, 7);
            push = Roles.start(() -> {
                model.join();
                model.push(0, memory, 0, SIZE, Cancellation.NONE);
            });
            server = ParameterServer.launch(context(address.getPort()), standby::close);
            assertThat(push).isNotDone();
            groups.become(AccessState.ACTIVE);
            push.get(30, TimeUnit.SECONDS);
            assertThat(server.shard().store().memory().slab(0).get(ValueLayout.JAVA_FLOAT, 0)).isEqualTo(7);
        }
    }

    @Test
    void processThatStopsServingRefusesPushesUntilItServesAgain() throws Exception {
        groups.become(AccessState.ACTIVE);
        server = ParameterServer.launch(context(0));
        try (StripedModel model = connect(server.localAddress())) {
            model.join();
            groups.become(AccessState.STANDBY);
            push = Roles.start(() -> model.push(0, memory, 0, SIZE, Cancellation.NONE));
            assertThat(server.shard().traffic().pushes.sum()).isZero();
            groups.become(AccessState.ACTIVE);
            push.get(30, TimeUnit.SECONDS);
            assertThat(server.shard().traffic().pushes.sum()).isPositive();
        }
    }

    @Test
    void eachPortGroupHasItsOwnPortalGroupTags() throws IOException {
        assertThat(context(0).shards(3).shard(2).conclude().network.toString()).contains("portalGroupTag=6");
    }

    @Test
    void portalsMustListTheAddressesOfAllGroups() {
        InetSocketAddress address = new InetSocketAddress("127.0.0.1", 3260);
        assertThatThrownBy(() -> context(3260).portals(List.of(address)).conclude())
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("must list the addresses of all shards (1) in order, for each of the 2 port groups");
    }
}
