package io.modeldisk.command;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.command.address.LearnerLabel;
import io.modeldisk.command.address.ModelLocators;
import io.modeldisk.command.options.LoginSecrets;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.DurationText;
import io.modeldisk.striping.ShardLocator;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code modeldisk handover}. */
@Command(name = "handover", mixinStandardHelpOptions = true, showDefaultValues = true,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:Another process is the primary of the shard.",
        "1:A shard does not answer, or no backup serves the shard in time.",
        ExitStatus.WRONG_OR_DENIED},
    description = {"Makes a backup of a shard the primary, and waits until the new primary serves.",
        "The shards must have --durability replica. Learners wait meanwhile, and receive no error. The former primary becomes a "
            + "backup. The name in --secrets needs the right raw."})
final class HandoverCommand implements Callable<Integer> {
    private static final long PERIOD_MS = 50;

    @Parameters(paramLabel = ModelLocators.FORMS, description = ModelLocators.DESCRIPTION)
    private String address;

    @Option(names = "--shard", paramLabel = "I", required = true, description = "The number of the shard, from 0.")
    private int shard;

    @Option(names = "--timeout", paramLabel = "TIME", defaultValue = "30s",
        description = "The time after which the command fails if no backup serves the shard.")
    private Duration timeout;

    @Mixin
    private LoginSecrets secrets;

    @Override
    public Integer call() throws IOException, InterruptedException {
        NanoClock clock = NanoClock.SYSTEM;
        long endNs = clock.nanoTime() + timeout.toNanos();
        try (ShardLocator shards = ModelLocators.open(address);
            StripedModel model = StripedModel.connect(new StripedModelContext(shards)
                .learner(LearnerLabel.unique("handover")).sessions(secrets.session()))) {
            Arguments.require(shard >= 0 && shard < model.facts().shards(),
                "--shard=" + shard + " must be from 0 to " + (model.facts().shards() - 1));
            long before = replication(model).path("epoch").asLong();
            model.requestHandOver(shard);
            JsonNode now = null;
            while (now == null || now.path("epoch").asLong() <= before) {
                if (clock.nanoTime() - endNs > 0) {
                    throw new IOException("no backup serves shard " + shard + " after " + DurationText.format(timeout)
                        + "; the log of the primary has the reason");
                }
                clock.sleep(PERIOD_MS, TimeUnit.MILLISECONDS);
                now = primary(model);
            }
            System.out
                .println("epoch " + now.path("epoch").asLong() + ": another process is the primary of shard " + shard);
        }
        return 0;
    }

    private JsonNode replication(StripedModel model) throws IOException {
        return model.status().path(shard).path("replication");
    }

    /** Returns the replication state of the primary; null as long as no process serves the shard. */
    private JsonNode primary(StripedModel model) {
        try {
            JsonNode replication = replication(model);
            return replication.path("role").asText().equals("primary") ? replication : null;
        } catch (IOException e) {
            return null;
        }
    }
}
