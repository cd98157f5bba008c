package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that shards start again from a checkpoint after SIGKILL. */
@Timeout(180)
@Tag("mount")
final class CheckpointIT {
    private static final String SIZE = "3MiB";

    /**
     * A program that reads a checkpoint without code of this project: first the index, then each safetensors file. It compares
     * the tensors with the weights of a mount.
     */
    private static final String COMPARE = """
        import json, struct, sys
        import numpy as np
        folder, weights = sys.argv[1], np.fromfile(sys.argv[2], np.float32)
        index = json.load(open(folder + '/model.safetensors.index.json'))
        at = 0
        for name, file in sorted(index['weight_map'].items()):
            data = open(folder + '/' + file, 'rb').read()
            length = struct.unpack('<Q', data[:8])[0]
            entry = json.loads(data[8:8 + length])[name]
            assert entry['dtype'] == 'F32'
            begin, end = entry['data_offsets']
            tensor = np.frombuffer(data[8 + length + begin:8 + length + end], np.float32).reshape(entry['shape'])
            assert np.array_equal(tensor.ravel(), weights[at:at + tensor.size]), name
            at += tensor.size
        assert 4 * at == index['metadata']['total_size'], at
        print('equal', at)
        """;

    /** A program that writes a safetensors file whose tensors are not aligned to blocks. */
    private static final String WRITE = """
        import json, struct, sys
        import numpy as np
        header, data = {}, b''
        for name, shape in ('a', (3, 5)), ('b', (1001, 7)), ('c', (300000,)):
            values = np.random.default_rng(len(data)).standard_normal(shape, np.float32).tobytes()
            header[name] = {'dtype': 'F32', 'shape': shape, 'data_offsets': [len(data), len(data) + len(values)]}
            data += values
        text = json.dumps(header).encode()
        open(sys.argv[1], 'wb').write(struct.pack('<Q', len(text)) + text + data)
        """;

    /** A learner that pushes random gradients in three rounds. */
    private static final String PUSH = """
        import os, sys
        import numpy as np
        fd = os.open(sys.argv[1], os.O_RDWR)
        size = os.fstat(fd).st_size
        for number in range(3):
            values = np.random.default_rng(number).standard_normal(size // 4, np.float32)
            os.pwrite(fd, values.tobytes(), 0)
            os.fsync(fd)
        os.close(fd)
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    @Test
    void threeShardsStartFromACheckpointOfTwoShards() throws Exception {
        Programs.requireLearners();
        Path file = sandbox.path("m.safetensors");
        sandbox.run("python3", "-c", WRITE, file).succeeded();
        Object[] options = {"--from", file, "--aggregator", "sum", "--consistency", "bsp", "--state",
            sandbox.path("state"), "--checkpoint-every", "1h"};
        List<Running> two = Command.startAll(sandbox, "m", 2, options);
        Shards shards = Command.ready("m", two);
        Path first = sandbox.directory("first");
        sandbox.run(modeldisk("mount", shards.address(), first)).succeeded();
        sandbox.run("python3", "-c", PUSH, first.resolve("model")).succeeded();
        String folder = sandbox.run(modeldisk("checkpoint", shards.address())).succeeded().strip();
        Object[] compare = {"python3", "-c", COMPARE, folder, first.resolve("weights")};
        assertThat(sandbox.run(compare).succeeded()).contains("equal 307022");
        assertThat(folder).startsWith(sandbox.path("state") + "/checkpoint-");
        assertThat(sandbox.run(modeldisk("status", shards.address())).succeeded())
            .contains("the newest checkpoint is " + folder + " of round 3");
        // The checkpoint does not contain these three rounds, so they are lost.
        sandbox.run("python3", "-c", PUSH, first.resolve("model")).succeeded();
        Running.kill(two);

        Shards three = Command.ready("m", Command.startAll(sandbox, "m", 3, options));
        Path second = sandbox.directory("second");
        sandbox.run(modeldisk("mount", three.address(), second)).succeeded();
        compare[4] = second.resolve("weights");
        assertThat(sandbox.run(compare).succeeded()).contains("equal 307022");
        sandbox.run("python3", "-c", PUSH, second.resolve("model")).succeeded();
    }

    @Test
    void shardThatWaitsForAnotherShardExitsAtSigterm() throws Exception {
        Running waiting = Command.serve(sandbox, "--model", "m", "--shard", "0/2", "--size", SIZE, "--aggregator",
            "sum", "--consistency", "bsp", "--state", sandbox.path("state"));
        await("the shard waits", () -> waiting.output().contains("waits until shard 1 has started"));
        waiting.signal("TERM");
        waiting.awaitEnd();
    }

    @Test
    void shardWithoutStateRefusesACheckpoint() throws Exception {
        Shards shards = Shards.launch(sandbox, "m", 1, 1 << 20, context -> context);
        sandbox.run(modeldisk("checkpoint", shards.address())).failed("start all shards with --state DIR");
    }

    @Test
    void serveRefusesInvalidCheckpointOptions() throws Exception {
        assertThat(
            sandbox.run(modeldisk("serve", "--model", "m", "--size", SIZE, "--durability", "checkpoint")).output())
            .contains("--durability checkpoint needs a directory; give it with --state");
        assertThat(sandbox.run(modeldisk("serve", "--model", "m", "--size", SIZE, "--state", sandbox.path("s"),
            "--checkpoint-every", "0rounds")).output()).contains("must be at least 1 round");
    }
}
