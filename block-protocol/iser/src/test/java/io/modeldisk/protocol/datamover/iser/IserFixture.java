package io.modeldisk.protocol.datamover.iser;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.datamover.WrappedPortal;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.engine.MemoryTarget;
import io.modeldisk.protocol.engine.Serving;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.UnitReadiness;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.rdma.Rdma;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Starts a target that serves TCP and iSER on the first RDMA device of this machine. Opens sessions with this target. */
abstract class IserFixture {
    static final int MIB = 1 << 20;
    static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);
    static final long LOGIN_TIMEOUT_SECONDS = 15;

    private final BlockingQueue<String> ends = new LinkedBlockingQueue<>();
    final IserConnector connector = new IserConnector();
    InetAddress address;
    DataMemory memory;
    Serving serving;
    private long sessions;

    @BeforeEach
    void serve() throws IOException {
        assumeTrue(Rdma.isAvailable(), "this test needs RDMA: " + Rdma.unavailabilityCause());
        address = Rdma.addresses().getFirst();
        memory = DataMemory.allocate(8 * MIB);
        serving = serving(address);
    }

    /** Starts a target that serves TCP and iSER at an address. */
    static Serving serving(InetAddress address) throws IOException {
        return new Serving(context -> context.listen(new InetSocketAddress(address, 0))
            .loginTimeout(Duration.ofSeconds(LOGIN_TIMEOUT_SECONDS))
            .access(new AccessPolicy(null, true, List.of()))
            .datamovers(List.of(new TcpPortal.Opener(), new IserPortal.Opener())));
    }

    @AfterEach
    void stop() {
        if (serving != null) {
            serving.awaitNothingLeft();
            serving.close();
            memory.close();
        }
    }

    IscsiSession login(InitiatorPortal way) throws Exception {
        return login(serving.server.localAddress(), way);
    }

    IscsiSession login(InetSocketAddress portal, InitiatorPortal way) throws Exception {
        IscsiSession session = IscsiSession
            .login(new SessionContext().portal(portal).over(way).connectTimeout(Duration.ofSeconds(30))
                .targetName(MemoryTarget.NAME).initiator("iqn.test:initiator", ++sessions));
        UnitReadiness.await(session, 0);
        return session;
    }

    /** Returns a portal that stores each new connection in {@code last}. */
    static InitiatorPortal remembering(InitiatorPortal way, AtomicReference<InitiatorDatamover> last) {
        return new WrappedPortal(way, (connection, _) -> {
            last.set(connection);
            return connection;
        });
    }

    InitiatorPortal iser() {
        return new IserInitiatorPortal(connector, serving.server.localAddress());
    }

    /** Reads blocks into {@link #memory}. The first byte is stored at {@code offset}. Returns the status of the command. */
    String read(IscsiSession session, long lba, int blocks, long offset) throws Exception {
        return run(session,
            session.acquire(PATIENCE_NS).read(0, lba, blocks, memory, offset, blocks * Serving.BLOCK));
    }

    /** Writes blocks. Their data is in {@link #memory} and starts at {@code offset}. Returns the status of the command. */
    String write(IscsiSession session, long lba, int blocks, long offset) throws Exception {
        return run(session,
            session.acquire(PATIENCE_NS).write(0, lba, blocks, memory, offset, blocks * Serving.BLOCK));
    }

    private String run(IscsiSession session, IoRequest request) throws Exception {
        session.submit(request.onCompletion(done -> ends.add(done.describeEnd())));
        return ends.poll(30, TimeUnit.SECONDS);
    }
}
