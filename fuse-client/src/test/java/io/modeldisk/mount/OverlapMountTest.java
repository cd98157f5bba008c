package io.modeldisk.mount;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests learners in other processes with the overlap exchange. */
@Tag("mount")
@Timeout(120)
final class OverlapMountTest {
    private static final int SIZE = 8 << 20;
    private static final String WRITE = "os.pwrite(f, b'\\1'*(8<<20), 0)\n";

    @AutoClose
    private MountFixture fixture;

    @BeforeEach
    void mount() throws IOException {
        fixture = new MountFixture(SIZE).launch("overlap");
    }

    private Process learner(String program) throws IOException {
        return fixture.shell.start("exec python3 -u - <<'P'\n" + Shell.OPEN + program + "P");
    }

    private void assertWholeGradients(int count) {
        assertThat(fixture.model.weight(0)).isEqualTo((byte) count);
        assertThat(fixture.model.weight(SIZE / 2)).isEqualTo((byte) count);
        assertThat(fixture.model.weight(SIZE - 1)).isEqualTo((byte) count);
    }

    @Test
    void pythonLearnerTrainsWithTheOverlapExchange() throws Exception {
        fixture.shell.learn("for k in range(1, 7):\n"
            + "  assert os.pread(f, 8<<20, 0)==bytes([max(0, k-2)])*(8<<20), k\n"
            + "  " + WRITE
            + "  os.fsync(f)\n");
        // The close(2) of the learner has waited for the last push.
        assertWholeGradients(6);
        JsonNode status = new ObjectMapper().readTree(fixture.shell.succeed("cat \"$DIR/status.json\""));
        assertThat(status.at("/mount/iterations").asInt()).isEqualTo(6);
        assertThat(status.at("/mount/iteration/weightsAgeMs").asDouble()).isPositive();
        assertThat(status.at("/mount/expected/pull").asText()).isEqualTo("adaptive");
        assertThat(status.at("/mount/expected/computationMs").asDouble()).isPositive();
    }

    @Test
    void extendedAttributesDescribeTheWeightsInUse() throws Exception {
        fixture.shell.learn(
            "names=['dtype', 'version', 'staleness', 'age_ms', 'bubble_ms', 'stall_ms', 'rollbacks', 'rank', 'partitions',"
                + " 'partition_epoch', 'lr']\n"
                + "os.pread(f, 1, 0)\n"
                + "assert float(os.getxattr(f, 'user.modeldisk.age_ms'))>0\n"
                + "assert float(os.getxattr(f, 'user.modeldisk.bubble_ms'))>=0\n"
                + "for k in range(3): os.fsync(f)\n"
                + "assert os.listxattr(f)==['user.modeldisk.'+n for n in names], os.listxattr(f)\n"
                + "assert os.getxattr(f, 'user.modeldisk.dtype')==b'f32'\n"
                + "assert os.getxattr(f, 'user.modeldisk.version')==b'7'\n"
                + "assert os.getxattr(f, 'user.modeldisk.staleness')==b'0.000'\n"
                + "assert float(os.getxattr(f, 'user.modeldisk.stall_ms'))>=0\n"
                + "for name in ['user.modeldisk.none', 'security.capability']:\n"
                + "  try: os.getxattr(f, name); sys.exit('getxattr succeeded')\n"
                + "  except OSError as e: assert e.errno==errno.ENODATA, e\n"
                + "try: os.setxattr(f, 'user.modeldisk.version', b'8'); sys.exit('setxattr succeeded')\n"
                + "except OSError as e: assert e.errno==errno.EOPNOTSUPP, e\n"
                + "try: os.setxattr(f, 'user.modeldisk.lr', b'fast'); sys.exit('setxattr succeeded')\n"
                + "except OSError as e: assert e.errno==errno.EINVAL, e\n"
                + "try: os.setxattr(f, 'user.modeldisk.lr', b'1', os.XATTR_CREATE); sys.exit('setxattr succeeded')\n"
                + "except OSError as e: assert e.errno==errno.EEXIST, e\n"
                + "assert os.getxattr(f, 'user.modeldisk.lr')==b'0.5'\n"
                + "os.setxattr(f, 'user.modeldisk.lr', b'0.25\\n')\n"
                + "assert os.getxattr(f, 'user.modeldisk.lr')==b'0.25'\n"
                + "assert os.listxattr(os.environ['DIR']+'/weights')==[]\n"
                + "assert os.listxattr(os.environ['DIR'])==os.listxattr(f)\n"
                + "for name, value in [('rank', b'1'), ('partitions', b'3'), ('partition_epoch', b'2')]:\n"
                + "  for path in f, os.environ['DIR']: assert os.getxattr(path, 'user.modeldisk.'+name)==value, name\n");
    }

    @Test
    void getxattrFailsWithErangeWhenTheBufferIsTooSmall() throws Exception {
        fixture.shell.learn("import ctypes\n"
            + "c=ctypes.CDLL(None, use_errno=True); b=ctypes.create_string_buffer(2)\n"
            + "assert c.fgetxattr(f, b'user.modeldisk.age_ms', b, 2)==-1 and ctypes.get_errno()==errno.ERANGE\n"
            + "assert c.flistxattr(f, b, 2)==-1 and ctypes.get_errno()==errno.ERANGE\n");
    }

    @Test
    void traceContainsThePhasesOfAnIteration() throws Exception {
        fixture.shell.learn("for k in range(5):\n  " + WRITE + "  os.fsync(f)\n");
        JsonNode trace = new ObjectMapper().readTree(fixture.shell.succeed("cat \"$DIR/trace.json\""));
        assertThat(trace.at("/otherData/learner").asText()).isEqualTo("l1");
        for (String phase : new String[]{"compute", "stall", "push", "pull"}) {
            assertThat(trace.path("traceEvents")).as(phase).anySatisfy(event -> {
                assertThat(event.path("name").asText()).isEqualTo(phase);
                assertThat(event.path("dur").asDouble()).isPositive();
                assertThat(event.at("/args/iteration").asInt()).isEqualTo(3);
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"compute", "push", "pull", "stall"})
    void newLearnerTrainsAfterAnotherLearnerWasKilledInAnyPhase(String phase) throws Exception {
        fixture.model.pushesWait(phase.equals("push") || phase.equals("stall"));
        Process learner = learner(
            (phase.equals("compute") ? "" : WRITE + "os.fsync(f)\n") + (phase.equals("stall") ? WRITE : "")
                + "print('x')\n" + (phase.equals("stall") ? "os.fsync(f)\n" : "signal.pause()\n"));
        assertThat(learner.getInputStream().read()).isEqualTo('x');
        fixture.model.pullsWait(phase.equals("pull"));
        if (phase.equals("push") || phase.equals("stall")) {
            await("a push waits", () -> fixture.model.waiting.get() > 0);
        }
        learner.destroyForcibly();
        fixture.model.pushesWait(false);
        fixture.model.pullsWait(false);
        await("the killed learner has left", () -> fixture.model.calls.contains("leave"));
        int pushed = phase.equals("compute") ? 0 : 1;
        fixture.shell.learn("assert os.pread(f, 8<<20, 0) in [bytes([v])*(8<<20) for v in (%d, 2)]\n".formatted(pushed)
            + WRITE + "os.fsync(f)\n");
        assertThat((int) fixture.model.weight(0)).isIn(pushed + 1, 3);
        assertWholeGradients(fixture.model.weight(0));
    }

    @Test
    void fsyncAndCloseAndStatusReportAFailedPush() throws Exception {
        fixture.model.failPushAfter(0);
        fixture.shell.learn(WRITE + "os.fsync(f)\n" + WRITE
            + "try: os.fsync(f); sys.exit('fsync succeeded')\n"
            + "except OSError as e: assert e.errno==errno.EIO, e\n"
            + "try: os.close(f); sys.exit('close succeeded')\n"
            + "except OSError as e: assert e.errno==errno.EIO, e\n");
        assertThat(fixture.shell.succeed("cat \"$DIR/status.json\"")).contains("shard 0 does not respond");
        // Several pieces were in flight when one piece failed. The pieces that have arrived are not pushed again.
        assertThat(fixture.model.pushes).hasSizeLessThan(8).doesNotHaveDuplicates();
    }

    @Test
    void closeOfTheMountPushesTheGradientOfTheLastFsync() throws Exception {
        Process learner = learner(WRITE + "os.fsync(f)\nprint('x')\nsignal.pause()\n");
        assertThat(learner.getInputStream().read()).isEqualTo('x');
        fixture.mount.close();
        learner.destroyForcibly();
        assertThat(fixture.isMounted()).isFalse();
        assertWholeGradients(1);
        assertThat(fixture.model.calls).endsWith("leave");
    }
}
