package io.modeldisk.bench.training;

import io.modeldisk.bench.shard.Datamovers;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.platform.Arguments;
import io.modeldisk.protocol.initiator.Route;
import java.util.ArrayList;
import java.util.List;

/**
 * The plan of {@code bench training}.
 *
 * @param model the size of the model and the computation time of an iteration
 * @param learners the number of learners
 * @param shards the number of shards
 * @param variants the exchange schemes
 * @param iterations the number of counted iterations
 * @param accesses the ways in which learners access the model
 * @param datamovers the datamovers between learners and shards
 * @param consistency the consistency mode of the shards
 * @param linkBytesPerSecond the throughput of each learner's emulated link, in each direction; 0 for no emulated link
 * @param durabilities the durabilities of the shards
 * @param followers the followers beside the learners
 * @param rounds the number of times that each case is measured
 */
public record TrainingPlan(
    KnownModel model, int learners, int shards, List<Variant> variants, int iterations, List<Access> accesses,
    Datamovers datamovers, String consistency, long linkBytesPerSecond, List<Durability> durabilities,
    List<Followers> followers, int rounds) {
    private static final long MOST_COMPUTE_MS = 60_000;

    /**
     * Checks every value.
     *
     * @throws IllegalArgumentException if a value is out of range; the message contains the value and the range
     */
    public TrainingPlan {
        Arguments.require(model.bytes() > 0, "--model has " + model.bytes() + " bytes, but must have at least 4");
        Arguments.require(model.computeMs().orElseThrow() <= MOST_COMPUTE_MS,
            "--model has a computation time of " + model.computeMs().orElseThrow()
                + " ms, but it must be at most one minute");
        Arguments.require(learners >= 1 && learners <= 64, "--learners " + learners + " must be from 1 to 64");
        Arguments.require(shards >= 1 && shards <= 64, "--shards " + shards + " must be from 1 to 64");
        Arguments.require(iterations >= 1, "--iterations " + iterations + " must be at least 1");
        Arguments.require(linkBytesPerSecond == 0 || datamovers.present().equals(List.of(Route.Preference.TCP)),
            "--link needs --datamover tcp, because the emulated link forwards TCP connections");
        Arguments.require(accesses.stream().anyMatch(access -> access != Access.MAPPED)
            || variants.stream().noneMatch(variant -> variant.exchange() == ExchangeScheme.DIRECT),
            "--through mapped needs --exchange sync or overlap, because direct has no buffers to map");
    }

    /**
     * A measured case.
     *
     * @param variant the exchange scheme
     */
    public record Case(
        Variant variant, Access access, Route.Preference datamover, Durability durability, Followers followers) {}

    /**
     * Returns all cases, in the order in which they are measured. No case combines {@code direct} with {@code mapped}, because
     * {@code direct} has no buffers to map.
     */
    public List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        for (Route.Preference datamover : datamovers.present()) {
            for (Variant variant : variants) {
                for (Access access : accesses) {
                    for (Durability durability : durabilities) {
                        for (Followers each : followers) {
                            if (access != Access.MAPPED || variant.exchange() != ExchangeScheme.DIRECT) {
                                cases.add(new Case(variant, access, datamover, durability, each));
                            }
                        }
                    }
                }
            }
        }
        return cases;
    }

    /**
     * Returns the number of iterations that are not counted. It is at least 2, because overlap pulls weights two iterations
     * before their use.
     */
    int warmUp() {
        return Math.max(2, iterations / 3);
    }
}
