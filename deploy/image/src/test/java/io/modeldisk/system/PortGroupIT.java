package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.datamover.tcp.TcpInitiatorPortal;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ReplicateCommand;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the target port groups of a primary and its backup, which run with the option {@code --port-group}. */
@Timeout(120)
final class PortGroupIT {
    private static final int SIZE_BYTES = 1 << 20;
    private static final Pattern BACKUP = Pattern
        .compile("backup: shard 0/1 of model m on 127\\.0\\.0\\.1:(\\d+)");
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final int ROOM_BYTES = 4096;
    /** The codes of the access states active/optimized and standby (SPC-4, 6.37). */
    private static final int ACTIVE = 0;
    private static final int STANDBY_STATE = 2;
    /** The peripheral device types of a disk and of a storage array controller. */
    private static final int DISK = 0;
    private static final int CONTROLLER = 0x0C;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private static String group(Pattern pattern, String line) {
        Matcher matcher = pattern.matcher(line);
        assertThat(matcher.matches()).as("the line '%s' matches %s", line, pattern).isTrue();
        return matcher.group(1);
    }

    private Running serve(String coordinator, int group) throws Exception {
        return Command.serve(sandbox, "--model", "m", "--size", SIZE_BYTES, "--aggregator", "sum", "--coordinator",
            coordinator, "--coordinator-session", "1s", "--replace-after", "1s", "--durability", "replica",
            "--port-group", group + "/2");
    }

    /**
     * An initiator's path to one process. Each command uses a new session, because the process might have closed an older one.
     */
    private record Path(int port) {
        /** Runs a command and returns its result; null if the process does not respond. */
        private <T> T run(int lun, BiFunction<IoRequest, DataMemory, T> result, int... cdb) {
            byte[] bytes = new byte[cdb.length];
            for (int i = 0; i < cdb.length; i++) {
                bytes[i] = (byte) cdb[i];
            }
            InetSocketAddress address = new InetSocketAddress("127.0.0.1", port);
            try (DataMemory memory = DataMemory.allocate(ROOM_BYTES);
                IscsiSession session = IscsiSession.login(new SessionContext().portal(address)
                    .over(new TcpInitiatorPortal(address)).targetName(ModelFacts.TARGET_PREFIX + "m")
                    .initiator("iqn.2026-11.test:multipath", 0x800000030000L))) {
                while (true) {
                    CompletableFuture<T> ended = new CompletableFuture<>();
                    session.submit(session.acquire(BOUND.toNanos())
                        .control(lun, bytes, memory, 0, bytes.length == 6 && bytes[0] == 0 ? 0 : ROOM_BYTES)
                        .onCompletion(
                            done -> ended.complete(done.isToBeRetried() ? null : result.apply(done, memory))));
                    T end = ended.get(BOUND.toSeconds(), TimeUnit.SECONDS);
                    if (end != null) {
                        return end;
                    }
                }
            } catch (IOException e) {
                return null;
            } catch (InterruptedException | ExecutionException | TimeoutException e) {
                throw new AssertionError(e);
            }
        }

        /** Returns the state of each port group in the data of REPORT TARGET PORT GROUPS, by the number of the group. */
        Map<Integer, Integer> states(int lun) {
            return run(lun, (_, memory) -> {
                Map<Integer, Integer> states = new TreeMap<>();
                ByteBuffer data = memory.slab(0).asSlice(0, ROOM_BYTES).asByteBuffer();
                for (int at = 4; at < 4 + data.getInt(0); at += 12) {
                    states.put((int) data.getShort(at + 2), data.get(at) & 0xF);
                }
                return states;
            }, 0xA3, 0x0A, 0, 0, 0, 0, 0, 0, ROOM_BYTES >> 8, 0, 0, 0);
        }

        /** Returns {@code ready} if TEST UNIT READY succeeds; otherwise the message with which the command fails. */
        String readiness(int lun) {
            return run(lun,
                (done, _) -> done.isGood() ? "ready" : done.exception(null, "TEST UNIT READY").getMessage(),
                0, 0, 0, 0, 0, 0);
        }

        int deviceType(int lun) {
            return run(lun, (_, memory) -> (int) memory.slab(0).get(ValueLayout.JAVA_BYTE, 0), 0x12, 0, 0,
                ROOM_BYTES >> 8, 0, 0);
        }
    }

    private static void assertStates(Path active, int group, Path standby) {
        Map<Integer, Integer> expected = Map.of(group, ACTIVE, 3 - group, STANDBY_STATE);
        for (int lun = 0; lun < 2; lun++) {
            int each = lun;
            await("group " + group + " is active", BOUND, () -> expected.equals(active.states(each)));
            // A process in standby reports only the state of its own group.
            await("the other group is standby", BOUND,
                () -> Map.of(3 - group, STANDBY_STATE).equals(standby.states(each)));
            assertThat(active.readiness(lun)).isEqualTo("ready");
            assertThat(standby.readiness(lun)).contains("the state of its port group is standby");
        }
    }

    @Test
    void primaryAndBackupReportTheSameStatesBeforeAndAfterAHandover() throws Exception {
        String coordinator = Command.address(Command.coordinator(sandbox, "127.0.0.1:0"));
        Running first = serve(coordinator, 1);
        Path one = new Path(Command.port(first));
        Running second = serve(coordinator, 2);
        Path two = new Path(Integer.parseInt(group(BACKUP, second.awaitLine("backup: "))));
        assertStates(one, 1, two);
        assertThat(two.deviceType(1)).isEqualTo(DISK);
        assertThat(two.deviceType(ReplicateCommand.LUN)).isEqualTo(CONTROLLER);

        String url = "modeldisk+zk://" + coordinator + "/m";
        await("the backup is in sync", BOUND,
            () -> sandbox.run(modeldisk("status", url)).output().contains(" is in sync"));
        assertThat(sandbox.run(modeldisk("handover", url, "--shard", "0")).output()).contains("epoch 2");
        assertStates(two, 2, one);
    }
}
