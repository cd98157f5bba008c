package io.modeldisk.mount;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that a signal ends a system call although the shards do not respond and no request to them returns, not even a cancelled
 * one.
 */
@Tag("mount")
@Timeout(120)
final class SilentMountTest {
    private static final int KILLED = 128 + 9;

    private final MountFixture fixture = new MountFixture(8 << 20);
    private final SilentShards shards = new SilentShards(fixture.model);

    @AfterEach
    void unmount() throws Exception {
        shards.silent(false);
        fixture.close();
    }

    private void launch(String exchange) throws IOException {
        fixture.model.tensors = """
            {"bias":{"dtype":"F32","shape":[2097152],"data_offsets":[0,8388608]}}""";
        fixture.mount = ModelMount.launch(fixture.context(exchange).remoteModel(shards.model));
    }

    /** Starts a program that executes {@code first}, prints a line, waits for a line of input, and executes {@code then}. */
    private Process program(String first, String then) throws IOException {
        return fixture.shell.start("exec python3 -u -c \"import os, signal, sys; D=os.environ['DIR']\n" + first
            + "\nprint('first'); sys.stdin.readline()\n" + then + "\"");
    }

    private static void begin(Process program) throws IOException {
        assertThat(program.getInputStream().read()).isEqualTo('f');
        // The program waits for a line. The end of its input also ends this wait.
        program.getOutputStream().close();
    }

    /** Kills a program while its call waits for the shards. The shards respond again after the program has exited. */
    private void killWhileTheShardsAreSilent(Process program) throws Exception {
        shards.silent(true);
        begin(program);
        shards.awaitWaiting();
        program.toHandle().destroyForcibly();
        assertThat(Shell.end(program).status()).isEqualTo(KILLED);
        assertThat(shards.waiting).as("calls that wait for the shards").hasPositiveValue();
        shards.silent(false);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        direct  | pass                            | os.open(D+'/model', os.O_RDWR)
        sync    | pass                            | os.open(D+'/model', os.O_RDWR)
        sync    | pass                            | os.open(D+'/mapped/control', os.O_RDWR)
        direct  | f=os.open(D+'/model', os.O_RDWR) | os.pread(f, 4096, 0)
        direct  | f=os.open(D+'/model', os.O_RDWR) | os.pwrite(f, bytes(4096), 0)
        direct  | f=os.open(D+'/model', os.O_RDWR) | os.pwrite(f, bytes(4096), 0); os.fsync(f)
        sync    | f=os.open(D+'/model', os.O_RDWR) | os.pwrite(f, bytes(4096), 0); os.fsync(f)
        overlap | f=os.open(D+'/model', os.O_RDWR) | [os.pwrite(f, bytes(4096), 0) and os.fsync(f) for i in (1, 2)]
        sync    | f=os.open(D+'/mapped/control', os.O_RDWR) | os.fsync(f)
        direct  | f=os.open(D+'/model', os.O_RDWR) | open(D+'/partition').read()
        sync    | f=os.open(D+'/weights', os.O_RDWR) | os.pread(f, 4096, 0)
        sync    | f=os.open(D+'/weights', os.O_RDWR) | os.pwrite(f, bytes(4096), 0)
        sync    | f=os.open(D+'/weights', os.O_RDWR) | os.pwrite(f, bytes(100), 5)
        sync    | f=os.open(D+'/weights', os.O_RDWR + os.O_TRUNC) | os.close(f)
        sync    | pass                            | open(D+'/version').read()
        sync    | pass                            | open(D+'/status.json').read()
        sync    | pass                            | open(D+'/model.safetensors').read()
        sync    | pass                            | open(D+'/tensors/bias.npy').read()
        direct  | pass                            | os.getxattr(D, 'user.modeldisk.version')
        direct  | f=os.open(D+'/model', os.O_RDWR) | os.getxattr(D, 'user.modeldisk.rank')
        """)
    void killedProgramExitsWhileTheShardsDoNotRespond(String exchange, String first, String then) throws Exception {
        launch(exchange);
        Process program = program(first, then);
        await("the program has made its first calls", () -> program.getInputStream().available() > 0);
        killWhileTheShardsAreSilent(program);
        // The interrupted calls leave nothing behind, so another learner can join as soon as they have ended.
        await("another learner trains", () -> fixture.shell
            .run("dd if=/dev/zero of=\"$DIR/model\" bs=1M count=8 conv=notrunc,fsync status=none").status() == 0);
        fixture.shell.succeed("cat \"$DIR/version\" \"$DIR/status.json\" \"$DIR/model.safetensors\" >/dev/null");
    }

    @Test
    void learnerLeavesAfterItsOpenWasInterrupted() throws Exception {
        launch("sync");
        killWhileTheShardsAreSilent(program("pass", "os.open(D+'/model', os.O_RDWR)"));
        await("the learner leaves", () -> fixture.model.calls.contains("leave"));
    }

    @Test
    void writeWaitsUntilAnEarlierInterruptedWriteHasEnded() throws Exception {
        launch("sync");
        Process program = program("""
            f=os.open(D+'/weights', os.O_RDWR)
            def handler(*arguments): raise InterruptedError
            signal.signal(signal.SIGINT, handler)""", """
            try: os.pwrite(f, b'\\1'*4096, 0)
            except InterruptedError: print('interrupted')
            os.pwrite(f, b'\\2'*4096, 0)""");
        await("the program has opened the file", () -> program.getInputStream().available() > 0);
        shards.silent(true);
        begin(program);
        shards.awaitWaiting();
        fixture.shell.succeed("kill -INT " + program.pid());
        assertThat(new String(program.getInputStream().readNBytes("irst\ninterrupted\n".length()),
            StandardCharsets.UTF_8)).isEqualTo("irst\ninterrupted\n");
        fixture.shell.succeed("ls \"$DIR\"");
        shards.silent(false);
        assertThat(Shell.end(program).status()).isZero();
        // Only the first write waited for the shards: the second write began after the shards responded again.
        assertThat(shards.calls).isEqualTo(List.of("begin write", "end write"));
        assertThat(fixture.model.weight(0)).isEqualTo((byte) 2);
    }
}
