package io.modeldisk.protocol.engine;

import static io.modeldisk.test.Await.await;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.datamover.Unnumbered;
import io.modeldisk.protocol.datamover.WrappedPortal;
import io.modeldisk.protocol.datamover.shm.MappingLimits;
import io.modeldisk.protocol.datamover.shm.ShmInitiatorPortal;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests a server over shared memory: its sessions, and the resources that closed sessions release. */
@Timeout(120)
final class ShmServerTest {
    private static final int MIB = 1 << 20;
    private static final long PATIENCE_SECONDS = 20;

    @TempDir
    Path folder;

    private final MappingLimits limits = new MappingLimits();
    private Path sockets;
    private Serving serving;
    private DataMemory memory;

    @BeforeEach
    void serve() throws IOException {
        sockets = folder.resolve("run");
        serving = new Serving(context -> context.datamovers(
            List.of(new TcpPortal.Opener(), new ShmPortal.Opener(sockets, limits))));
        memory = DataMemory.allocateShareable(8 * MIB);
    }

    @AfterEach
    void close() {
        serving.close();
        memory.close();
        assertThat(limits.mappedBytes()).isZero();
    }

    private Path socket() {
        return SocketPath.of(sockets, MemoryTarget.NAME, serving.server.localAddress().getPort());
    }

    private IscsiSession login(InitiatorPortal over, long isid, int depth) throws IOException {
        return IscsiSession.login(new SessionContext().portal(serving.server.localAddress()).over(over)
            .targetName(MemoryTarget.NAME).initiator("iqn.test:shm", isid).queueDepth(depth));
    }

    private IscsiSession login() throws IOException {
        return login(new ShmInitiatorPortal(socket()), 1, 8);
    }

    /** Submits a command and returns a future of its result. */
    private static CompletableFuture<String> start(IscsiSession session, IoRequest request, boolean more)
        throws IOException {
        CompletableFuture<String> end = new CompletableFuture<>();
        session.submit(request.onCompletion(done -> end.complete(done.describeEnd())), more);
        return end;
    }

    private static String end(IscsiSession session, IoRequest request) throws Exception {
        return start(session, request, false).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private IoRequest read(IscsiSession session) throws IOException {
        return acquire(session).read(0, 0, 1, memory, 0, 4096);
    }

    private IoRequest acquire(IscsiSession session) throws IOException {
        return session.acquire(TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS));
    }

    @Test
    void transfersOverSharedMemoryOccupyNoServerBuffers() throws Exception {
        byte[] data = random(4 * MIB, 1);
        try (IscsiSession session = login()) {
            // The first command of a nexus receives a unit attention.
            end(session, read(session));
            MemorySegment.copy(data, 0, memory.slab(0), ValueLayout.JAVA_BYTE, 0, data.length);
            long free = serving.server.freeBufferBytes();
            serving.target.unit.parking = true;
            CompletableFuture<String> written = start(session,
                acquire(session).write(0, 8, 1024, memory, 0, 4 * MIB), false);
            await("the write waits in the logical unit", () -> !serving.target.unit.parked.isEmpty());
            assertThat(serving.server.freeBufferBytes()).isEqualTo(free);
            serving.target.unit.parking = false;
            serving.target.unit.parked.forEach(IoTask::resume);
            assertThat(written.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo("GOOD");
            assertThat(serving.contents(8 * 4096, data.length)).isEqualTo(data);
            assertThat(end(session, acquire(session).read(0, 8, 1024, memory, 4 * MIB, 4 * MIB))).isEqualTo("GOOD");
        }
        assertThat(memory.segment(4 * MIB, data.length).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(data);
        serving.awaitNothingLeft();
    }

    /**
     * At the start of a session, the command window has space for two commands. With queue depth 2, the third command waits for a
     * free request. With queue depth 3, the third command waits until the target enlarges the command window.
     */
    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void heldBackCommandIsSentBeforeAThreadWaitsForARequest(int depth) throws Exception {
        try (IscsiSession session = login(new ShmInitiatorPortal(socket()), 1, depth)) {
            CompletableFuture<String> end = start(session, read(session), true);
            IoRequest unused = acquire(session);
            assertThatThrownBy(() -> end.get(50, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            // The wait is shorter than the target's ping interval, because the response to a ping would flush the command.
            IoRequest next = session.acquire(TimeUnit.SECONDS.toNanos(5));
            assertThat(next).isNotNull();
            end.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            session.release(unused);
            session.release(next);
        }
    }

    @Test
    void flushSendsHeldBackCommands() throws Exception {
        try (IscsiSession session = login()) {
            end(session, read(session));
            CompletableFuture<String> end = start(session, read(session), true);
            session.flush();
            assertThat(end.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo("GOOD");
        }
    }

    @Test
    void heldBackCommandCanBeAborted() throws Exception {
        try (IscsiSession session = login()) {
            end(session, read(session));
            IoRequest read = read(session);
            int tag = read.initiatorTaskTag();
            CompletableFuture<String> end = start(session, read, true);
            session.abort(read, tag);
            assertThat(end).isCompleted();
        }
    }

    @Test
    void targetDoesNotReadTheMemoryOfAnAbortedWrite() throws Exception {
        try (IscsiSession session = login()) {
            end(session, read(session));
            byte[] before = serving.contents(0, MIB);
            serving.target.unit.parking = true;
            IoRequest write = acquire(session).write(0, 0, 256, memory, 0, MIB);
            int tag = write.initiatorTaskTag();
            CompletableFuture<String> end = start(session, write, false);
            await("the write waits in the logical unit", () -> !serving.target.unit.parked.isEmpty());
            session.abort(write, tag);
            assertThat(end).isCompleted();
            memory.slab(0).fill((byte) 7);
            serving.target.unit.parking = false;
            assertThat(serving.contents(0, MIB)).isEqualTo(before);
        }
    }

    @Test
    void sharedMemorySessionReplacesTheTcpSessionOfItsNexus() throws Exception {
        try (
            IscsiSession overTcp = login(null, 1, 8);
            IscsiSession overMemory = login()) {
            await("the TCP session is closed", () -> !overTcp.isOpen());
            assertThat(overMemory.isOpen()).isTrue();
        }
    }

    @Test
    void onlyTheOwnerCanAccessTheSocket() throws IOException {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(sockets))).isEqualTo("rwx------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket()))).isEqualTo("rw-------");
    }

    @Test
    void listenRefusesADirectoryThatOtherUsersCanWrite() throws IOException {
        Path open = Files.createDirectory(folder.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThatThrownBy(() -> ShmPortal.listen(open.resolve("x.sock"), serving.server.localAddress(), limits))
            .isInstanceOf(IOException.class).hasMessageContaining("mode 777");
    }

    /** The Debian package makes such a directory, in which root and the user of the services have their sockets. */
    @Test
    void listenAcceptsADirectoryThatAGroupShares() throws IOException, InterruptedException {
        Path shared = Files.createDirectory(folder.resolve("shared"));
        assertThat(new ProcessBuilder("chmod", "1770", shared.toString()).start().waitFor()).isZero();
        ShmPortal.listen(shared.resolve("x.sock"), serving.server.localAddress(), limits).close();
        assertThat(new ProcessBuilder("chmod", "0770", shared.toString()).start().waitFor()).isZero();
        assertThatThrownBy(() -> ShmPortal.listen(shared.resolve("x.sock"), serving.server.localAddress(), limits))
            .isInstanceOf(IOException.class).hasMessageContaining("mode 770");
    }

    @Test
    void listenReplacesASocketOnlyIfNoProcessUsesTheSocket() throws Exception {
        assertThatThrownBy(() -> ShmPortal.listen(socket(), serving.server.localAddress(), limits))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("is in use by process " + ProcessHandle.current().pid());
        Path stale = sockets.resolve("stale.sock");
        try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dead.bind(UnixDomainSocketAddress.of(stale));
        }
        assertThat(stale).exists();
        ShmPortal.listen(stale, serving.server.localAddress(), limits).close();
        assertThat(stale).doesNotExist();
    }

    @Test
    void loginFailsWhenNoTargetListensOnTheSocket() {
        assertThatThrownBy(() -> login(new ShmInitiatorPortal(sockets.resolve("nobody.sock")), 1, 8))
            .isInstanceOf(IOException.class).hasMessageContaining("does not respond over shared memory")
            .hasMessageContaining("nobody.sock");
    }

    private static long count(String folder) throws IOException {
        try (Stream<Path> entries = Files.list(Path.of(folder))) {
            return entries.count();
        }
    }

    private static long mappings() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream().filter(line -> line.contains("memfd:")).count();
    }

    /**
     * Opens a connection, and in most cases closes the connection without a logout, as if the process was killed. {@code moment}
     * selects the state in which the connection is closed.
     */
    private void connectAndDie(int moment) throws Exception {
        InitiatorDatamover[] datamover = new InitiatorDatamover[1];
        InitiatorPortal spy = new WrappedPortal(new ShmInitiatorPortal(socket()),
            (connection, _) -> datamover[0] = connection);
        if (moment % 10 == 0) {
            spy.connect(new Unnumbered(), 1, 1000, NanoClock.SYSTEM).close();
            return;
        }
        try (IscsiSession session = login(spy, moment % 4, 8)) {
            for (int i = 0; i < moment % 8; i++) {
                session.submit(acquire(session).write(0, 0, 256, memory, (long) i * MIB / 2, MIB)
                    .onCompletion(_ -> {}));
            }
            if (moment % 3 > 0) {
                datamover[0].close();
            }
        }
    }

    @Test
    void serverReleasesTheResourcesOfAThousandClosedConnections() throws Exception {
        for (int i = 0; i < 20; i++) {
            connectAndDie(i);
        }
        serving.awaitNothingLeft();
        await("the memory of the first connections is unmapped", () -> limits.mappedBytes() == 0);
        long descriptors = count("/proc/self/fd");
        long mapped = mappings();
        long threads = threads();
        for (int i = 0; i < 1000; i++) {
            connectAndDie(i);
        }
        serving.awaitNothingLeft();
        await("the memory of all connections is unmapped", () -> limits.mappedBytes() == 0);
        assertThat(mappings()).isEqualTo(mapped);
        assertThat(count("/proc/self/fd")).isLessThanOrEqualTo(descriptors);
        await("the threads of all connections have stopped", () -> threads() <= threads);
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> Stream.of(ThreadName.RECEIVER.of(), ThreadName.RESPONDER.of(), "iscsi-")
                .anyMatch(thread.getName()::startsWith))
            .count();
    }
}
