package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Compares the optimizer of two shards with the same optimizer in numpy. The learner changes the learning rate during the
 * training.
 */
@Tag("mount")
@Timeout(120)
final class OptimizerIT {
    private static final int SIZE_BYTES = 1 << 19;

    /**
     * A learner that computes AdamW itself, and compares its own weights with the pulled weights in each iteration. After half of
     * the iterations, it changes the learning rate. With overlap, the pulled weights are one iteration old.
     */
    private static final String LEARNER = """
        import os, sys
        import numpy
        path, delay = sys.argv[1], int(sys.argv[2])
        model = os.open(path, os.O_RDWR)
        count = os.fstat(model).st_size // 4
        random = numpy.random.default_rng(1)
        weights, m, v = (numpy.zeros(count) for _ in range(3))
        history = [weights]
        lr = 0.1
        for step in range(1, 21):
            if step == 11:
                os.setxattr(path, 'user.modeldisk.lr', b'0.02')
                lr = 0.02
                rate = float(os.getxattr(path, 'user.modeldisk.lr'))
                if abs(rate - 0.02) > 1e-6:
                    sys.exit('the learning rate is %g' % rate)
            found = numpy.frombuffer(os.pread(model, 4 * count, 0), numpy.float32)
            wanted = history[max(0, step - 1 - delay)]
            if not numpy.allclose(found, wanted, rtol=1e-5, atol=1e-5):
                sys.exit('step %d: %s instead of %s' % (step, found[:4], wanted[:4]))
            gradient = random.standard_normal(count, numpy.float32)
            if os.pwrite(model, gradient.tobytes(), 0) != 4 * count:
                sys.exit('pwrite wrote only a part of the gradient')
            os.fsync(model)
            m = 0.9 * m + 0.1 * gradient
            v = 0.999 * v + 0.001 * gradient.astype(float) ** 2
            weights = weights * (1 - lr * 0.1)
            weights = weights - lr * (m / (1 - 0.9 ** step)) / (numpy.sqrt(v / (1 - 0.999 ** step)) + 1e-8)
            history.append(weights)
        print('finished')
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    @ParameterizedTest
    @CsvSource({"bsp, sync, 0, cpu", "bsp, overlap, 1, cpu", "asp, direct, 0, cpu", "bsp, overlap, 1, gpu"})
    void weightsEqualThoseOfNumpyBeforeAndAfterALearningRateChange(
        String consistency, String scheme, String delay, String processor) throws Exception {
        if (processor.equals("gpu")) {
            sandbox.useDevice();
        }
        Programs.requireLearners();
        Shards shards = Command.serveAll(sandbox, "m", 2, "--size", SIZE_BYTES, "--block-size", "64KiB", "--aggregator",
            "adamw:lr=0.1,weight-decay=0.1", "--consistency", consistency);
        Running mount = Command.mounted(sandbox, shards, sandbox.directory("d"), "--exchange", scheme);
        Running learner = sandbox.start("learner", "/usr/bin/python3", sandbox.file("learner.py", LEARNER),
            sandbox.path("d").resolve("model"), delay);
        assertThat(learner.awaitEnd()).as(learner.output()).isZero();
        Result status = sandbox.run(Sandbox.modeldisk("status", shards.address(), "--json"));
        assertThat(status.output()).containsPattern("\"learningRate\" ?: ?0\\.02");
    }
}
