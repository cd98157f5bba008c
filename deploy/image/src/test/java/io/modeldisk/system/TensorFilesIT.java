package io.modeldisk.system;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.striping.StripedModel;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the files model.safetensors and tensors/NAME.npy of two followers while two learners push. All gradient values are 1, the
 * learning rate is 1, and a round with bsp applies the mean of its gradients. All weights of round n are therefore -n.
 */
@Tag("mount")
@Timeout(600)
final class TensorFilesIT {
    private static final int BLOCK = 64 << 10;
    /** The names and shapes of the tensors. The tensor "layer/b" has 300,000 weights in 19 blocks, which are on both shards. */
    private static final String NAMES = """
        {"embed": {"shape": [100, 7]}, "layer/b": {"dtype": "F32", "shape": [3, 100000]}, "": {"shape": []},
         "none": {"shape": [0, 4]}, "..": {"shape": [33]}}
        """;
    private static final int WEIGHTS = 700 + 300_000 + 1 + 33;

    /** A program that reads the safetensors format without code of modeldisk, and checks each version that it reads. */
    private static final String READER = """
        import json, mmap, os, select, struct, sys
        import numpy as np
        folder, mode, times, waits = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == 'true'

        def load(path):
            with open(path, 'rb') as f:
                m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
            length, = struct.unpack('<Q', m[:8])
            header = json.loads(m[8:8 + length])
            assert len(m) == 8 + length + max(t['data_offsets'][1] for n, t in header.items() if n != '__metadata__')
            metadata = header.pop('__metadata__')
            data = np.frombuffer(m, np.uint8, offset=8 + length)
            return metadata, {n: data[slice(*t['data_offsets'])].view('<f4').reshape(t['shape'])
                              for n, t in header.items()}

        def same(tensors):
            values = np.concatenate([t.ravel() for t in tensors])
            assert (values == values[0]).all(), ('a mixture of rounds', np.unique(values))
            return -int(values[0])

        files = {'embed': 'embed', 'layer/b': 'layer%2Fb', '': '%', 'none': 'none', '..': '%2E.'}
        assert sorted(os.listdir(folder + '/tensors')) == sorted(f + '.npy' for f in files.values())
        names = json.load(open(folder + '/tensors.json'))
        size = int(names['embed']['dtype'] == 'F32') * 2 + 2
        assert {n: (t['shape'], t['data_offsets'][0] // size) for n, t in names.items()} == {
            'embed': ([100, 7], 0), 'layer/b': ([3, 100000], 700), '': ([], 300700), 'none': ([0, 4], 300701),
            '..': ([33], 300701)}
        assert os.path.getsize(folder + '/model') == size * (300701 + 33)
        version = os.open(folder + '/version', os.O_RDONLY)
        wakes = select.poll()
        wakes.register(version, select.POLLPRI)
        newest, distinct, kept = 0, set(), []
        for n in range(times):
            print('reads version', n + 1, flush=True)
            if waits:
                assert wakes.poll(60000), 'no new version in a minute'
                announced = int(os.pread(version, 64, 0))
            metadata, tensors = load(folder + '/model.safetensors')
            assert metadata['modeldisk.model'] == 'm' and metadata['modeldisk.consistency'] == mode
            low, high = int(metadata['modeldisk.version.min']), int(metadata['modeldisk.version.max'])
            assert set(tensors) == set(files) and tensors['embed'].shape == (100, 7) and tensors[''].shape == ()
            if mode == 'bsp':
                r = same(tensors.values())
                assert r == int(metadata['modeldisk.round']) == low == high, (r, metadata)
                assert r >= newest, ('an older round than before', r, newest)
                assert not waits or r >= announced, ('older than DIR/version', r, announced)
                newest = r
                distinct.add(r)
            else:
                values = -np.concatenate([t.ravel() for t in tensors.values()])
                assert low <= values.min() and values.max() <= high, (low, high, values.min(), values.max())
                for start in range(0, values.size, 16384):
                    part = values[start:start + 16384]
                    assert (part == part[0]).all(), 'a block with two versions'
                distinct.add((low, high))
            kept = kept[-2:] + [(tensors, [t.copy() for t in tensors.values()])]
            for old, copies in kept:
                for a, b in zip(old.values(), copies):
                    assert np.array_equal(a, b), 'an open version has changed'
            for name, file in files.items():
                path = f'{folder}/tensors/{file}.npy'
                one = np.load(path, mmap_mode='r') if n % 2 else np.load(path)
                assert one.shape == tensors[name].shape and one.dtype == np.float32
                if one.size and mode == 'bsp':
                    assert same([one]) >= newest
                    newest = same([one])
        print('read', times, 'versions', len(distinct), flush=True)
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicLong rounds = new AtomicLong();

    private Path reader;

    private Shards serve(String mode, int shards) throws Exception {
        Programs.requireLearners();
        reader = sandbox.file("reader.py", READER);
        Path names = sandbox.file("names.json", NAMES);
        return Shards.launch(sandbox, "m", shards, WEIGHTS * 4L,
            context -> context.tensors(names).blockSizeBytes(BLOCK).consistency(mode).learners(2));
    }

    /** Starts a learner that pushes gradients of ones until {@link #stop} is true. Learner 0 counts the rounds. */
    private CompletableFuture<Void> learner(Shards shards, int number, long pauseMs) {
        return CompletableFuture.runAsync(() -> {
            try (StripedModel model = StripedModel.connect(shards.context().learner("l" + number))) {
                long bytes = (WEIGHTS * 4L + 4095) / 4096 * 4096;
                try (DataMemory gradient = model.allocate(bytes); DataMemory weights = model.allocate(bytes)) {
                    for (long at = 0; at < WEIGHTS * 4L; at += Float.BYTES) {
                        gradient.slab(0).set(ValueLayout.JAVA_FLOAT, at, 1);
                    }
                    model.join();
                    while (!stop.get()) {
                        model.push(0, gradient, 0, bytes, Cancellation.NONE);
                        model.pull(0, weights, 0, bytes, Cancellation.NONE);
                        rounds.addAndGet(number == 0 ? 1 : 0);
                        Thread.sleep(pauseMs);
                    }
                    model.leave();
                }
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, command -> Thread.ofPlatform().start(command));
    }

    /** If {@code waits} is false, the learners leave before the readers finish. */
    @ParameterizedTest
    @CsvSource({"bsp, 2, 1, 0, 20, true", "bsp, 2, 0, 0, 24, false", "bsp, 1, 20, 0, 8, true",
        "asp, 2, 0, 1, 24, false",
        "ssp:2, 2, 1, 0, 16, true"})
    void openFileKeepsOneVersionWhileLearnersPushAndLeave(
        String mode, int count, long pauseMs, long otherPauseMs, int times, boolean waits) throws Exception {
        Shards shards = serve(mode, count);
        List<CompletableFuture<Void>> learners = List.of(learner(shards, 0, pauseMs),
            learner(shards, 1, pauseMs + otherPauseMs));
        List<Running> readers = readers(shards, mode, times, waits);
        long before = rounds.get();
        try {
            if (!waits) {
                for (Running each : readers) {
                    each.awaitLine("reads version " + times / 2);
                }
                stop.set(true);
                join(learners);
            }
            for (Running each : readers) {
                each.process().waitFor();
                String last = each.output().lines().toList().getLast();
                assertThat(last).as(each.output()).startsWith("read " + times + " versions ");
                assertThat(Long.parseLong(last.replaceAll(".* ", ""))).isGreaterThan(2);
            }
            assertThat(rounds.get()).isGreaterThan(before + 2);
        } finally {
            stop.set(true);
        }
        join(learners);
    }

    /**
     * Starts two followers. For each follower, also starts a program that reads versions while learners push. The second follower
     * uses bfloat16.
     *
     * @param waits true if a program waits in poll(2) for a new version before each read
     */
    private List<Running> readers(Shards shards, String mode, int times, boolean waits) throws Exception {
        List<Running> readers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Command.mounted(sandbox, shards, sandbox.directory("f" + i), "--read-only", "--dtype",
                i == 0 ? "f32" : "bf16");
        }
        await("learners push", () -> rounds.get() > 2);
        for (int i = 0; i < 2; i++) {
            readers.add(sandbox.start("reader" + i, "python3", reader, sandbox.path("f" + i), mode, times, waits));
        }
        return readers;
    }

    private static void join(List<CompletableFuture<Void>> learners) throws InterruptedException, ExecutionException {
        for (CompletableFuture<Void> each : learners) {
            each.get();
        }
    }
}
