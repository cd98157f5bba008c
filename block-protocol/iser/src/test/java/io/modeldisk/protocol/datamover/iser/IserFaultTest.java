package io.modeldisk.protocol.datamover.iser;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.datamover.Unnumbered;
import io.modeldisk.protocol.datamover.tcp.TcpInitiatorPortal;
import io.modeldisk.protocol.engine.Serving;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a failure over iSER affects only its own command or connection. */
@Tag("softroce")
class IserFaultTest extends IserFixture {
    private static final String NOBODY = "10.9.0.99";
    private static final int BLOCKS = 64;
    private static final int BYTES = BLOCKS * Serving.BLOCK;
    private static final int MOST_SESSIONS = 6;

    @ParameterizedTest
    @CsvSource({"UNKNOWN_TAG,false", "UNKNOWN_TAG,true", "TOO_SHORT,false", "TOO_SHORT,true",
        "OF_ANOTHER_SESSION,false", "OF_ANOTHER_SESSION,true", "WRONG_OFFSET,false", "WRONG_OFFSET,true"})
    void commandWithWrongMemoryAdvertisementFailsWithoutEffectOnOtherSessions(LyingInitiator.Lie lie, boolean writes)
        throws Exception {
        byte[] before = serving.fill(lie.ordinal());
        AtomicReference<InitiatorDatamover> last = new AtomicReference<>();
        InitiatorPortal another = remembering(
            new IserInitiatorPortal(new IserConnector(), serving.server.localAddress()), last);
        try (DataMemory small = DataMemory.allocate(Serving.BLOCK); IscsiSession bystander = login(another)) {
            // The read registers the memory in a protection domain that the lying initiator does not use.
            assertThat(read(bystander, 0, BLOCKS, 0)).isEqualTo("GOOD");
            int foreign = ((IserInitiatorDatamover) last.get()).channel.registered(memory).remoteKey(0);
            InitiatorPortal way = LyingInitiator.portal(iser(), lie, small, foreign);
            byte[] bystanders = memory.segment(0, 2 * BYTES).toArray(ValueLayout.JAVA_BYTE);
            try (IscsiSession liar = login(way)) {
                assertThat(read(liar, 0, 1, 2 * BYTES)).isEqualTo("GOOD");
                assertThat(writes ? write(liar, 0, BLOCKS, 0) : read(liar, 0, BLOCKS, 0)).isNotEqualTo("GOOD");
                await("the session of the lying initiator closes", () -> !liar.isOpen());
            }
            assertThat(memory.segment(0, 2 * BYTES).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bystanders);
            assertThat(serving.contents(0, before.length)).isEqualTo(before);
            assertThat(write(bystander, 0, BLOCKS, 0)).isEqualTo("GOOD");
            try (IscsiSession next = login(iser())) {
                assertThat(read(next, 0, BLOCKS, BYTES)).isEqualTo("GOOD");
            }
        }
    }

    /**
     * The target sends the response with the memory key of the command, which the initiator's device should then invalidate. The
     * device refuses this, because a user process has registered the memory, and the command fails. This failure proves that the
     * response contained the memory key.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void responseInvalidatesTheKeyOfItsCommandIfTheInitiatorRequestsInvalidation(boolean writes) throws Exception {
        InitiatorPortal asking = new IserInitiatorPortal(new IserConnector(true), serving.server.localAddress());
        try (IscsiSession bystander = login(iser()); IscsiSession session = login(asking)) {
            // A command with immediate data advertises no memory, so its response invalidates no memory key.
            assertThat(write(session, 0, 1, 0)).isEqualTo("GOOD");
            assertThat(writes ? write(session, 0, BLOCKS, 0) : read(session, 0, BLOCKS, 0)).isNotEqualTo("GOOD");
            await("the session that requested invalidation closes", () -> !session.isOpen());
            assertThat(read(bystander, 0, BLOCKS, 0)).isEqualTo("GOOD");
        }
    }

    @Test
    void connectToAnUnknownAddressFailsWithinTheTimeout() {
        InitiatorPortal way = new IserInitiatorPortal(connector, new InetSocketAddress(NOBODY, 3260));
        assertThatThrownBy(() -> way.connect(new Unnumbered(), 1, 10_000, NanoClock.SYSTEM))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("RDMA");
    }

    @Test
    void errorOfARefusedConnectionRefersToTheShardsLog() throws Exception {
        try (IserPortal refusing = IserPortal.listen(new InetSocketAddress(address, 0))) {
            FutureTask<Void> refusal = new FutureTask<>(() -> {
                refusing.accept().close();
                return null;
            });
            Thread.ofPlatform().start(refusal);
            InitiatorPortal way = new IserInitiatorPortal(connector, refusing.localAddress());
            assertThatThrownBy(() -> way.connect(new Unnumbered(), 1, 20_000, NanoClock.SYSTEM))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("refuses the iSER connection").hasMessageContaining("log says why");
            refusal.get();
        }
    }

    @Test
    void connectToASilentTargetFailsWithinTheTimeout() throws Exception {
        try (IserPortal silent = IserPortal.listen(new InetSocketAddress(address, 0))) {
            InitiatorPortal way = new IserInitiatorPortal(connector, silent.localAddress());
            assertThatThrownBy(() -> way.connect(new Unnumbered(), 1, 1_000, NanoClock.SYSTEM))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("does not respond over RDMA").hasMessageContaining("rping");
        }
    }

    @Test
    void targetClosesAConnectionThatDoesNotLogIn() throws Exception {
        try (InitiatorDatamover mute = iser().connect(new Unnumbered(), 1, 20_000, NanoClock.SYSTEM);
            IscsiSession session = login(iser())) {
            assertThatThrownBy(() -> mute.receive(null)).isInstanceOf(IOException.class);
            assertThat(read(session, 0, 1, 0)).isEqualTo("GOOD");
        }
    }

    @Test
    void targetReleasesAllResourcesOfAKilledInitiator() throws Exception {
        try (IscsiSession session = login(iser())) {
            // The second initiator logs in while the target might still have the connection of the first one.
            for (int i = 0; i < 2; i++) {
                try (IserVictim victim = IserVictim.initiator(serving.server.localAddress())) {
                    victim.awaitBusy();
                }
                assertThat(read(session, 0, 1, 0)).isEqualTo("GOOD");
            }
        }
        serving.awaitNothingLeft();
    }

    @Test
    void commandFailsAndSessionClosesIfTheTargetIsKilled() throws Exception {
        try (IserVictim victim = IserVictim.target(address)) {
            InetSocketAddress portal = victim.awaitPortal(address);
            try (IscsiSession session = login(portal, new IserInitiatorPortal(connector, portal))) {
                assertThat(read(session, 0, BLOCKS, 0)).isEqualTo("GOOD");
                Thread killer = Thread.ofPlatform().start(victim::kill);
                await("a command fails", () -> !session.isOpen() || !write(session, 0, BLOCKS, 0).equals("GOOD"));
                killer.join();
                await("the session with the killed target closes", () -> !session.isOpen());
            }
        }
    }

    @Test
    void targetWithoutPermissionToLockMemoryDoesNotStart() throws Exception {
        try (IserVictim target = IserVictim.target(address, locking(64 << 10))) {
            target.awaitEnd();
            assertThat(target.output()).contains("cannot be registered with the RDMA device")
                .contains("this process can lock only 65536 bytes", "LimitMEMLOCK");
        }
    }

    @Test
    void targetAtItsLimitOfLockedMemoryRefusesIserButServesTcp() throws Exception {
        try (IserVictim target = IserVictim.target(address, locking(Serving.MEMORY_BYTES + (64 << 10)))) {
            InetSocketAddress portal = target.awaitPortal(address);
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> login(portal, new IserInitiatorPortal(connector, portal)))
                    .isInstanceOf(IOException.class).hasMessageContaining("refuses the iSER connection")
                    .hasMessageContaining("log says why");
            }
            await("the target's log says why", () -> target.output().contains("LimitMEMLOCK"));
            login(portal, new TcpInitiatorPortal(portal)).close();
        }
    }

    /** The limit of 64 KiB is too low to register the messages. The limit of 2 MiB is too low to register the data. */
    @ParameterizedTest
    @ValueSource(ints = {64 << 10, 2 << 20})
    void errorContainsTheLimitOfLockedMemoryIfTheInitiatorCannotLockItsMemory(int limitBytes) throws Exception {
        try (IserVictim initiator = IserVictim.initiator(serving.server.localAddress(), locking(limitBytes))) {
            initiator.awaitEnd();
            assertThat(initiator.output()).contains("cannot be registered with the RDMA device")
                .contains("this process can lock only " + limitBytes + " bytes", "LimitMEMLOCK");
        }
        serving.awaitNothingLeft();
    }

    /**
     * Returns the start of a command line that limits the locked memory of a process. The command also drops the capability that
     * exempts root from the limit.
     */
    private static String[] locking(int bytes) {
        return new String[]{"setpriv", "--bounding-set", "-ipc_lock", "--inh-caps", "-ipc_lock", "prlimit",
            "--memlock=" + bytes};
    }

    /** A limit of the kernel for one process simulates a device that has no free queue pairs. */
    @Test
    void targetWithoutFreeQueuePairsRefusesOnlyNewConnections() throws Exception {
        List<IscsiSession> sessions = new ArrayList<>();
        try (DeviceLimit limit = new DeviceLimit(); IserVictim target = IserVictim.target(address)) {
            InetSocketAddress portal = target.awaitPortal(address);
            sessions.add(login(portal, new IserInitiatorPortal(connector, portal)));
            limit.confine(target.pid(), "hca_object=12");
            assertThatThrownBy(() -> {
                for (int i = 0; i < MOST_SESSIONS; i++) {
                    sessions.add(login(portal, new IserInitiatorPortal(connector, portal)));
                }
            }).isInstanceOf(IOException.class).hasMessageContaining("refuses the iSER connection");
            await("the target's log says why", () -> target.output().contains("cannot serve a connection"));
            assertThat(sessions).hasSizeGreaterThan(1);
            for (IscsiSession session : sessions) {
                assertThat(read(session, 0, BLOCKS, 0)).isEqualTo("GOOD");
            }
            sessions.removeLast().close();
            await("a new session can log in", () -> mayLogIn(portal));
        } finally {
            sessions.forEach(IscsiSession::close);
        }
    }

    private boolean mayLogIn(InetSocketAddress portal) {
        try {
            login(portal, new IserInitiatorPortal(connector, portal)).close();
            return true;
        } catch (Exception e) {
            return false;
        }
    }
}
