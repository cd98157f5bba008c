package io.modeldisk.striping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.ScriptedTarget;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiCommand;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how often a command without data is sent to a target that responds to every command with the same status. */
@Timeout(60)
class ControlCommandsTest {
    private static final byte[] SYNCHRONIZE_CACHE = {(byte) ScsiCommand.SYNCHRONIZE_CACHE_16.opcode()};

    private final DataMemory memory = DataMemory.allocate(4096);
    private final ControlCommands commands = new ControlCommands(memory, 0);
    private final AtomicInteger received = new AtomicInteger();
    private volatile int status;
    private ScriptedTarget target;
    private IscsiSession session;

    @BeforeEach
    void login() throws Exception {
        target = new ScriptedTarget();
        CompletableFuture<Void> loggedIn = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                target.acceptLogin("InitialR2T=No");
                loggedIn.complete(null);
                while (true) {
                    int tag = target.receive().getInt(16);
                    received.incrementAndGet();
                    target.respond(tag, status);
                }
            } catch (Exception e) {
                loggedIn.completeExceptionally(e);
            }
        });
        session = IscsiSession.login(new SessionContext().portal(target.address()).targetName("iqn.test:scripted")
            .initiator("iqn.test:initiator", 1));
        loggedIn.get(10, TimeUnit.SECONDS);
    }

    @AfterEach
    void end() throws Exception {
        target.close();
        session.close();
        memory.close();
    }

    private boolean run() throws Exception {
        return commands.run(session, SYNCHRONIZE_CACHE, 0, Cancellation.NONE) != null;
    }

    @Test
    void commandIsSentOnlyOnceWhenTheTargetRespondsTaskSetFull() {
        status = ScsiStatus.TASK_SET_FULL;
        assertThatThrownBy(this::run).isInstanceOf(ShardException.class).hasMessageEndingWith(": TASK SET FULL")
            .extracting(e -> ((ShardException) e).kind()).isEqualTo(ShardException.Kind.BUSY);
        assertThat(received).hasValue(1);
    }

    @Test
    void commandIsSentOnlyOnceWhenTheTargetRespondsBusy() throws Exception {
        status = ScsiStatus.BUSY;
        assertThat(run()).isFalse();
        assertThat(received).hasValue(1);
    }

    @Test
    void commandThatIsAbortedEachTimeIsGivenUp() {
        status = ScsiStatus.TASK_ABORTED;
        assertThatThrownBy(this::run).hasMessageEndingWith(": TASK ABORTED")
            .extracting(e -> ((ShardException) e).kind()).isEqualTo(ShardException.Kind.BUSY);
        assertThat(received).hasValue(ControlCommands.MAX_ATTENTIONS + 1);
    }
}
