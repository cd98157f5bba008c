package io.modeldisk.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.command.address.LearnerLabel;
import io.modeldisk.command.address.ModelLocators;
import io.modeldisk.command.options.LoginSecrets;
import io.modeldisk.mount.ModelMount;
import io.modeldisk.mount.file.Attribute;
import io.modeldisk.mount.file.MountEntry;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.linux.ExtendedAttribute;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.striping.ShardLocator;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The command {@code modeldisk lr}. */
@Command(name = "lr", mixinStandardHelpOptions = true, sortOptions = false,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:The rate is printed, or set on all shards.",
        "1:A shard does not answer, the shards have different rates, the aggregator has no learning rate, or no model is mounted "
            + "on the directory.",
        ExitStatus.WRONG_OR_DENIED},
    description = {"Prints the learning rate of a model, or sets it on all shards.",
        "With the directory of a learner's mount, a new rate applies from the learner's next round on, as with setfattr -n "
            + "user.modeldisk.lr. With the address of the model, it applies two rounds after the newest round. A schedule of the "
            + "aggregator multiplies the new rate by its factor."},
    footer = {"", "Examples:", "  modeldisk lr /mnt/digits",
        "  modeldisk lr modeldisk://127.0.0.1:3260/digits 0.01"})
final class LrCommand implements Callable<Integer> {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Parameters(index = "0", paramLabel = ModelLocators.FORMS + "|DIR",
        description = ModelLocators.DESCRIPTION + " Or the directory of a mount.")
    private String address;

    @Parameters(index = "1", arity = "0..1", paramLabel = "RATE", description = "The new rate, above 0.")
    private Float rate;

    @Mixin
    private LoginSecrets secrets;

    @Override
    public Integer call() throws IOException {
        Arguments.require(rate == null || Float.isFinite(rate) && rate > 0,
            "the learning rate " + rate + " must be a finite number above 0");
        Path directory = Path.of(address);
        ModelMount.ensureAlive(directory);
        System.out.println(Files.isDirectory(directory) ? ofMount(directory) : ofShards());
        return 0;
    }

    private String ofMount(Path directory) throws IOException {
        JsonNode model = MountStatus.read(directory).path("model");
        requireRate(ModelFacts.fromJson(JSON.writeValueAsBytes(model)));
        // The attribute is set on the file, because attributes of directories cannot be changed.
        ExtendedAttribute attribute = new ExtendedAttribute(directory.resolve(MountEntry.MODEL.fileName()),
            Attribute.LEARNING_RATE.attributeName());
        try {
            if (rate != null) {
                attribute.set(rate.toString());
            }
            return attribute.value();
        } catch (IOException e) {
            String error = MountStatus.read(directory).path("mount").path("lastError").asText();
            throw new IOException("the mount " + directory + " cannot " + (rate == null ? "read" : "set")
                + " the learning rate: " + (error.isEmpty() ? e.getMessage() : error), e);
        }
    }

    private String ofShards() throws IOException {
        try (ShardLocator shards = ModelLocators.open(address);
            StripedModel model = StripedModel.connect(new StripedModelContext(shards)
                .learner(LearnerLabel.unique("lr")).sessions(secrets.session()))) {
            requireRate(model.facts());
            if (rate != null) {
                // No learner has begun this round when the change arrives at the shards.
                model.changeLearningRate(model.counters().openedRound() + 2, rate);
            }
            JsonNode status = model.status();
            if (LearningRates.differ(status)) {
                throw new IOException(LearningRates.text(status));
            }
            return LearningRates.text(status);
        }
    }

    private static void requireRate(ModelFacts facts) throws IOException {
        if (!facts.hasLearningRate()) {
            throw new IOException("the aggregator " + facts.aggregator()
                + " has no learning rate; serve the model with an aggregator that has one, such as sgd:lr=0.1");
        }
    }
}
