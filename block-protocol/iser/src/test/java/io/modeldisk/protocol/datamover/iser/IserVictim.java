package io.modeldisk.protocol.datamover.iser;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.MemoryTarget;
import io.modeldisk.protocol.engine.Serving;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.UnitReadiness;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.test.Await;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A separate process that serves or uses a target over iSER until the test kills the process. The arguments are
 * {@code target ADDRESS} or {@code initiator ADDRESS PORT}.
 */
final class IserVictim implements AutoCloseable {
    private static final int BLOCKS = 64;
    private static final int DEPTH = 8;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(180);
    private static final Pattern READY = Pattern.compile("^port (\\d+)$", Pattern.MULTILINE);
    private static final String BUSY = "commands are in flight";

    private final Process process;
    private final Path output;

    private IserVictim(Process process, Path output) {
        this.process = process;
        this.output = output;
    }

    /** Starts an initiator. {@code before} is put before the java command, to start the process with limits. */
    static IserVictim initiator(InetSocketAddress portal, String... before) throws IOException {
        return start(List.of(before), "initiator", portal.getAddress().getHostAddress(),
            Integer.toString(portal.getPort()));
    }

    /** Starts a target. {@code before} is put before the java command, to start the process with limits. */
    static IserVictim target(InetAddress address, String... before) throws IOException {
        return start(List.of(before), "target", address.getHostAddress());
    }

    private static IserVictim start(List<String> before, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(before);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), IserVictim.class.getName()));
        command.addAll(List.of(arguments));
        Path output = Files.createTempFile("victim", ".log");
        return new IserVictim(
            new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start(), output);
    }

    long pid() {
        return process.pid();
    }

    /** Returns the output of the process so far. */
    String output() {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits until some commands of the initiator have succeeded and more commands are in flight. */
    void awaitBusy() {
        await(() -> output().contains(BUSY));
    }

    /** Waits until the target accepts connections. Returns the address of the target. */
    InetSocketAddress awaitPortal(InetAddress address) {
        await(() -> READY.matcher(output()).find());
        Matcher ready = READY.matcher(output());
        assertThat(ready.find()).isTrue();
        return new InetSocketAddress(address, Integer.parseInt(ready.group(1)));
    }

    private void await(BooleanSupplier condition) {
        Await.await(() -> "the victim is ready; its output: " + output(), Duration.ofNanos(PATIENCE_NS), () -> {
            assertThat(process.isAlive()).as("the victim is alive; its output: " + output()).isTrue();
            return condition.getAsBoolean();
        });
    }

    /** Waits until the process has exited by itself. */
    void awaitEnd() {
        try {
            assertThat(process.waitFor(PATIENCE_NS, TimeUnit.NANOSECONDS))
                .as("the victim exits; its output: " + output())
                .isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly().onExit().join();
        Files.delete(output);
    }

    public static void main(String[] arguments) throws Exception {
        InetAddress address = InetAddress.getByName(arguments[1]);
        if (arguments[0].equals("target")) {
            serve(address);
        } else {
            use(new InetSocketAddress(address, Integer.parseInt(arguments[2])));
        }
    }

    private static void serve(InetAddress address) throws Exception {
        try (Serving serving = IserFixture.serving(address)) {
            System.out.println("port " + serving.server.localAddress().getPort());
            // This read blocks until the parent process kills this process, or until the parent itself has exited.
            System.in.read();
        }
    }

    private static void use(InetSocketAddress portal) throws Exception {
        try (DataMemory memory = DataMemory.allocate(8 << 20);
            IscsiSession session = IscsiSession.login(new SessionContext().portal(portal)
                .over(new IserInitiatorPortal(new IserConnector(), portal)).connectTimeout(Duration.ofSeconds(30))
                .queueDepth(DEPTH).targetName(MemoryTarget.NAME).initiator("iqn.test:victim", 1))) {
            UnitReadiness.await(session, 0);
            for (int i = 0; session.isOpen(); i++) {
                IoRequest request = session.acquire(PATIENCE_NS);
                int bytes = BLOCKS * Serving.BLOCK;
                long offset = (long) request.slot() * bytes;
                session.submit(i % 2 == 0
                    ? request.write(0, 0, BLOCKS, memory, offset, bytes).onCompletion(_ -> {})
                    : request.read(0, 0, BLOCKS, memory, offset, bytes).onCompletion(_ -> {}));
                if (i == 2 * DEPTH) {
                    System.out.println(BUSY);
                }
            }
        }
    }
}
