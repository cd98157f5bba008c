package io.modeldisk.command;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.command.address.LearnerLabel;
import io.modeldisk.command.address.ModelLocators;
import io.modeldisk.command.options.LoginSecrets;
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

/** The command {@code modeldisk checkpoint}. */
@Command(name = "checkpoint", mixinStandardHelpOptions = true, showDefaultValues = true,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:The checkpoint is complete.",
        "1:A shard does not answer, takes no checkpoints, or has not completed this one in time.",
        ExitStatus.WRONG_OR_DENIED},
    description = {"Takes a checkpoint of a model now, and prints its folder.",
        "The shards write it to the directory that their option --state names. Training continues meanwhile. On a machine that "
            + "has this directory at the same path, cp -a \"$(modeldisk checkpoint ADDRESS)\" DIR copies it."})
final class CheckpointSubcommand implements Callable<Integer> {
    private static final long PERIOD_MS = 50;

    @Parameters(paramLabel = ModelLocators.FORMS, description = ModelLocators.DESCRIPTION)
    private String address;

    @Option(names = "--timeout", paramLabel = "TIME", defaultValue = "60s",
        description = "The time after which the command fails. The shards might complete the checkpoint later.")
    private Duration timeout;

    @Mixin
    private LoginSecrets secrets;

    @Override
    public Integer call() throws IOException, InterruptedException {
        NanoClock clock = NanoClock.SYSTEM;
        long endNs = clock.nanoTime() + timeout.toNanos();
        try (ShardLocator shards = ModelLocators.open(address);
            StripedModel model = StripedModel.connect(new StripedModelContext(shards)
                .learner(LearnerLabel.unique("checkpoint")).sessions(secrets.session()))) {
            long request = model.requestCheckpoint();
            JsonNode checkpoint = newest(model);
            while (checkpoint.path("answered").asLong() < request) {
                if (clock.nanoTime() - endNs > 0) {
                    throw new IOException("the checkpoint is not complete after " + DurationText.format(timeout)
                        + "; perhaps a shard has stopped, or with bsp the open round does not close; see `modeldisk status`");
                }
                clock.sleep(PERIOD_MS, TimeUnit.MILLISECONDS);
                checkpoint = newest(model);
            }
            if (checkpoint.has("failure")) {
                throw new IOException(
                    "the shards could not write the checkpoint: " + checkpoint.path("failure").asText());
            }
            System.out.println(checkpoint.path("path").asText());
        }
        return 0;
    }

    private static JsonNode newest(StripedModel model) throws IOException {
        return model.status().path(0).path("checkpoint");
    }
}
