package io.modeldisk.mount;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.platform.time.NanoClock;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests learners in other processes, which train or are killed. */
@Tag("mount")
@Tag("every-binding")
@Timeout(120)
final class LearnerMountTest {
    private static final int SIZE = 8 << 20;

    @AutoClose
    private final MountFixture fixture = new MountFixture(SIZE);

    @Test
    void pythonLearnerTrainsWithTheSyncExchange() throws Exception {
        fixture.launch("sync");
        fixture.shell.learn("for i in range(5):\n"
            + "  assert os.pread(f, 8<<20, 0)==bytes([i])*(8<<20)\n"
            + "  assert os.pwrite(f, b'\\1'*(8<<20), 0)==8<<20\n"
            + "  assert os.pread(f, 1, 0)==bytes([i])\n"
            + "  os.fsync(f)\n"
            + "text=open(os.environ['DIR']+'/status.json').read()\n"
            + "assert 'the last 4 iterations took' in text and 'computing' in text, text\n");
        assertThat(fixture.model.weight(SIZE - 1)).isEqualTo((byte) 5);
        assertThat(fixture.shell.succeed("cat \"$DIR/status.json\"")).contains("\"iterations\" : 5");
    }

    @Test
    void readerOfTheModelDoesNotBecomeALearner() throws Exception {
        fixture.launch("sync");
        fixture.shell.succeed("cat \"$DIR/model\" > /dev/null; cat \"$DIR/weights\" >/dev/null; : > \"$DIR/weights\"");
        assertThat(fixture.model.calls).isEmpty();
    }

    @Test
    void filePartitionShowsThePartOfTheLearner() throws Exception {
        fixture.launch("sync");
        String nobody = "{\"rank\":null,\"of\":null,\"epoch\":null,\"round\":null}\n";
        assertThat(fixture.shell.succeed("cat \"$DIR/partition\"")).isEqualTo(nobody);
        assertThat(fixture.shell.learn("def show(): print(open(os.environ['DIR']+'/partition').read(), end='')\n"
            + "show(); os.pwrite(f, b'\\1'*4096, 0); show(); os.fsync(f); show()\n"))
            .isEqualTo("{\"rank\":1,\"of\":3,\"epoch\":2,\"round\":1}\n".repeat(2)
                + "{\"rank\":1,\"of\":3,\"epoch\":2,\"round\":2}\n");
        await("the learner has left", () -> fixture.model.calls.contains("leave"));
        assertThat(fixture.shell.succeed("cat \"$DIR/partition\"")).isEqualTo(nobody);
        assertThat(fixture.model.askedRounds).containsExactly(1L, 2L);
    }

    @Test
    void openOfFilePartitionFailsWithEioWhenShardZeroDoesNotRespond() throws Exception {
        fixture.launch("sync");
        fixture.model.statusFails = true;
        assertThat(
            fixture.shell.run("exec 5<>\"$DIR/model\"; cat \"$DIR/partition\"; cat \"$DIR/status.json\"").output())
            .contains("Input/output error", "\"lastError\" : \"shard 0 does not respond\"");
        assertThat(fixture.shell.run(": > \"$DIR/partition\"").output()).contains("Permission denied");
    }

    @Test
    void newLearnerJoinsAfterAnotherLearnerWasKilled() throws Exception {
        fixture.launch("sync");
        Process learner = fixture.shell.start("exec python3 -c \"" + Shell.OPEN.replace("\n", ";")
            + "os.pwrite(f, b'\\1'*10, 0); print('x', flush=True); signal.pause()\"");
        assertThat(learner.getInputStream().read()).isEqualTo('x');
        learner.destroyForcibly();
        await("the killed learner has left", () -> fixture.model.calls.contains("leave"));
        fixture.shell.succeed("python3 -c \"" + Shell.OPEN.replace("\n", ";") + "os.fsync(f)\"");
        assertThat(fixture.model.weight(0)).isZero();
        assertThat(fixture.model.calls).startsWith("join", "leave", "join");
    }

    @Test
    void eachUnsupportedOperationFailsWithItsErrnoAndTheMountContinues() throws Exception {
        fixture.launch("sync");
        fixture.shell.succeed("python3 '" + MountFixture.resource("file_errors.py") + "' \"$DIR\"");
        fixture.shell.succeed("cat \"$DIR/model\" >/dev/null");
    }

    @Test
    void statusShowsTheReasonOfARefusedCall() throws Exception {
        fixture.launch("direct");
        fixture.shell.succeed("""
            python3 - <<'P'
            import json, os
            d = os.environ['DIR'] + '/'
            mount = lambda: json.load(open(d + 'status.json'))['mount']
            def fails(call, *arguments):
                try: call(*arguments)
                except OSError: return
                raise SystemExit(f'{arguments} succeeded')
            DROP, LR = 'user.modeldisk.drop', 'user.modeldisk.lr'
            refused = [
                ('no gradient to drop', os.setxattr, d + 'model', DROP, b''),
                ('drop of weights cannot be changed', os.setxattr, d + 'weights', DROP, b''),
                ('directories', os.setxattr, d, DROP, b''),
                ('version cannot be changed', os.setxattr, d + 'model', 'user.modeldisk.version', b'1'),
                ("'abc'", os.setxattr, d + 'model', LR, b'abc'),
                ('exists', os.setxattr, d + 'model', LR, b'1', os.XATTR_CREATE),
                ('the size of model is fixed', os.truncate, d + 'model', 10),
                ('owner and mode', os.chmod, d + 'model', 0o777)]
            for reason, *call in refused:
                fails(*call)
                assert reason in mount()['lastError'], mount()['lastError']
            fails(os.stat, d + 'none')
            fails(os.stat, d + 'model/none')
            fails(os.getxattr, d + 'model', 'security.capability')
            for path in d + 'model', d + 'weights', d:
                fails(os.setxattr, path, 'user.x', b'1')
            assert 'owner and mode' in mount()['lastError'], mount()['lastError']
            assert mount()['failures'] == len(refused), mount()['failures']
            P""");
    }

    @Test
    void removalOfTheModelFailsAtOnceWhileAReadWaits() throws Exception {
        fixture.launch("direct");
        fixture.model.pullsWait(true);
        Process reader = fixture.shell.start("exec dd if=\"$DIR/model\" of=/dev/null bs=4096 count=1 status=none");
        await("a read waits", () -> fixture.model.waiting.get() > 0);
        for (String command : new String[]{"rm -f \"$DIR/model\"", "mv \"$DIR/model\" \"$DIR/x\""}) {
            assertThat(fixture.shell.run("timeout 20 " + command).output()).contains("Operation not permitted");
        }
        fixture.model.pullsWait(false);
        assertThat(Shell.end(reader).status()).isZero();
    }

    @Test
    void openForWritingFailsWhenTheJoinFails() throws Exception {
        fixture.launch("sync");
        fixture.model.joinFails = true;
        assertThat(fixture.shell.run(": >> \"$DIR/model\"").output()).contains("Input/output error");
        fixture.model.joinFails = false;
        fixture.shell.succeed(": >> \"$DIR/model\"");
    }

    @Test
    void learnerTrainsDespiteASignalEvery20Ms() throws Exception {
        fixture.launch("sync");
        fixture.model.pullsTake(Duration.ofMillis(100), NanoClock.SYSTEM);
        fixture.shell.succeed("timeout 30 python3 - <<'P'\n"
            + "import os, signal\n"
            + "signal.signal(signal.SIGALRM, lambda *_: None); signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)\n"
            + "f=os.open(os.environ['DIR']+'/model', os.O_RDWR)\n"
            + "for i in range(3):\n"
            + "  assert os.pread(f, 1, 0)==bytes([i])\n"
            + "  assert os.pwrite(f, b'\\1'*10, 0)==10\n"
            + "  os.fsync(f)\n"
            + "signal.setitimer(signal.ITIMER_REAL, 0)\n"
            + "P");
        assertThat(fixture.model.weight(0)).isEqualTo((byte) 3);
        assertThat(fixture.model.pushes).hasSize(3);
    }
}
