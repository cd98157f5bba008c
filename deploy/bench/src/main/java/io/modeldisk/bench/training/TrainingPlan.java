package io.modeldisk.bench.training;

import io.modeldisk.bench.shard.Durability;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.server.checkpoint.CheckpointPeriod;
import java.nio.file.Path;
import java.util.List;

/**
 * The plan of {@code bench training}.
 *
 * @param model the name of the model in the report
 * @param modelBytes the size of the model, a multiple of 4
 * @param computeMs the computation time of an iteration
 * @param computation the emulation of the computation
 * @param learners the number of learners
 * @param shards the number of shards
 * @param variants the exchange schemes, in the order in which they are measured
 * @param iterations the number of counted iterations
 * @param warmUp the number of iterations before the counted iterations
 * @param throughs the ways in which learners access the model, measured one after another with each scheme
 * @param binding the name of the FUSE binding of mounts
 * @param datamover the datamover between learners and shards
 * @param consistency the consistency mode of the shards
 * @param aggregator the aggregator of the shards
 * @param linkBytesPerSecond the throughput of each learner's emulated link, in each direction; 0 for no emulated link
 * @param traces the directory for the learners' traces; may be null
 * @param durabilities the durabilities with which each variant is measured, one after another
 * @param followers the numbers of followers with which each variant is measured, one after another
 * @param followerPeriodMs the time between two reads of all weights by a follower; 0 for no reads
 * @param checkpointEvery the period of checkpoints, if a durability has checkpoints
 * @param repeat the number of times that all is measured
 */
public record TrainingPlan(
    String model,
    long modelBytes,
    double computeMs,
    Computation computation,
    int learners,
    int shards,
    List<Variant> variants,
    int iterations,
    int warmUp,
    List<Through> throughs,
    String binding,
    Route.Preference datamover,
    String consistency,
    String aggregator,
    long linkBytesPerSecond,
    Path traces,
    List<Durability> durabilities,
    List<Integer> followers,
    double followerPeriodMs,
    String checkpointEvery,
    int repeat) {

    /**
     * Checks every value.
     *
     * @throws IllegalArgumentException if a value is out of range; the message contains the value and the range
     */
    public TrainingPlan {
        require(modelBytes > 0 && modelBytes % Float.BYTES == 0, "--size " + modelBytes + " must be a positive "
            + "multiple of 4");
        require(computeMs >= 0 && computeMs <= 60_000, "--compute-ms " + computeMs + " must be from 0 to 60000");
        require(learners >= 1 && learners <= 64, "--learners " + learners + " must be from 1 to 64");
        require(shards >= 1 && shards <= 64, "--shards " + shards + " must be from 1 to 64");
        require(iterations >= 1, "--iterations " + iterations + " must be at least 1");
        require(warmUp >= 2,
            "--warm-up " + warmUp
                + " must be at least 2, because overlap pulls weights two iterations before their use");
        require(linkBytesPerSecond >= 0, "--link " + linkBytesPerSecond + " must not be negative");
        FuseBinding.named(binding);
        require(linkBytesPerSecond == 0 || datamover == Route.Preference.TCP,
            "--link needs --datamover tcp, because the emulated link forwards TCP connections");
        require(!followers.isEmpty() && followers.stream().allMatch(each -> each >= 0 && each <= 100),
            "--followers " + followers + " must be numbers from 0 to 100");
        require(followerPeriodMs >= 0, "--follower-period must not be negative");
        CheckpointPeriod.parse(checkpointEvery);
        require(repeat >= 1 && repeat <= 1000, "--repeat " + repeat + " must be from 1 to 1000");
        require(!throughs.contains(Through.MAPPED)
            || variants.stream().noneMatch(variant -> variant.exchange() == ExchangeScheme.DIRECT),
            "--through mapped needs --exchange sync or overlap, because direct has no buffers to map");
        require(!variants.isEmpty(), "the list of exchange schemes is empty, but must contain at least one scheme");
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
