package io.modeldisk.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import io.kubernetes.client.openapi.models.V1DaemonSet;
import io.kubernetes.client.openapi.models.V1PersistentVolumeClaim;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1Secret;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1StatefulSet;
import io.modeldisk.command.Main;
import io.modeldisk.command.Settings;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Validates the manifests in deploy/kubernetes with the models of Kubernetes's Java client: each field must be known and have the
 * right type, and required fields must be there. Also checks the settings of modeldisk in them.
 */
final class ManifestTest {
    private static final Path FOLDER = Pages.ROOT.resolve("deploy/kubernetes");
    private static final YAMLMapper YAML = new YAMLMapper();

    static List<JsonNode> manifests() throws IOException {
        List<JsonNode> manifests = new ArrayList<>();
        try (Stream<Path> files = Files.list(FOLDER)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".yaml")).sorted().toList()) {
                YAML.readerFor(JsonNode.class).<JsonNode>readValues(file.toFile()).forEachRemaining(manifests::add);
            }
        }
        return manifests;
    }

    private static void validate(JsonNode manifest) throws IOException {
        JsonElement json = JsonParser.parseString(new ObjectMapper().writeValueAsString(manifest));
        String kind = manifest.path("apiVersion").asText() + " " + manifest.path("kind").asText();
        switch (kind) {
            case "apps/v1 StatefulSet" -> V1StatefulSet.validateJsonElement(json);
            case "apps/v1 DaemonSet" -> V1DaemonSet.validateJsonElement(json);
            case "policy/v1 PodDisruptionBudget" -> V1PodDisruptionBudget.validateJsonElement(json);
            case "v1 PersistentVolumeClaim" -> V1PersistentVolumeClaim.validateJsonElement(json);
            case "v1 Secret" -> V1Secret.validateJsonElement(json);
            case "v1 Service" -> V1Service.validateJsonElement(json);
            default -> throw new AssertionError("the kind '" + kind + "' is not validated; add it here");
        }
        assertThat(manifest.at("/metadata/name").asText()).isNotEmpty();
    }

    @ParameterizedTest
    @MethodSource("manifests")
    void everyManifestIsValid(JsonNode manifest) {
        assertThatCode(() -> validate(manifest)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/spec", "/spec/template/spec", "/spec/template/spec/containers/0",
        "/spec/template/spec/containers/0/securityContext", "/spec/template/spec/containers/0/readinessProbe",
        "/spec/template/spec/volumes/0"})
    void misspeltFieldIsRefused(String place) throws IOException {
        JsonNode broken = manifests().stream().filter(each -> each.path("kind").asText().equals("StatefulSet")).toList()
            .getLast()
            .deepCopy();
        ((ObjectNode) broken.at(place)).put("replicaz", 2);
        assertThatThrownBy(() -> validate(broken)).hasMessageContaining("replicaz");
    }

    @Test
    void missingRequiredFieldAndWrongTypeAreRefused() throws IOException {
        JsonNode first = manifests().stream().filter(each -> each.path("kind").asText().equals("StatefulSet"))
            .findFirst().orElseThrow();
        JsonNode without = first.deepCopy();
        ((ObjectNode) without.at("/spec")).remove("selector");
        assertThatThrownBy(() -> validate(without)).hasMessageContaining("selector");
        JsonNode wrong = first.deepCopy();
        ((ObjectNode) wrong.at("/spec/template/spec")).put("containers", "coordinator");
        assertThatThrownBy(() -> validate(wrong)).hasMessageContaining("containers");
    }

    private static List<JsonNode> containers() throws IOException {
        List<JsonNode> containers = new ArrayList<>();
        for (JsonNode manifest : manifests()) {
            manifest.at("/spec/template/spec/containers").forEach(containers::add);
        }
        return containers;
    }

    @Test
    void settingsAndArgumentsOfContainersAreThoseOfTheCommands() throws IOException {
        CommandLine line = Main.commandLine();
        assertThat(containers()).hasSize(3);
        for (JsonNode container : containers()) {
            List<String> arguments = new ArrayList<>();
            container.path("args").forEach(argument -> arguments.add(argument.asText()));
            CommandLine command = line.getSubcommands().get(arguments.getFirst());
            for (JsonNode variable : container.path("env")) {
                String name = variable.path("name").asText();
                if (name.startsWith("MODELDISK_")) {
                    OptionSpec option = command.getCommandSpec().options().stream()
                        .filter(each -> Settings.variable(Settings.key(each)).equals(name))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(name + " is no setting of " + arguments.getFirst()));
                    arguments.add(option.longestName() + "=" + variable.path("value").asText());
                }
            }
            assertThatCode(() -> Main.commandLine().parseArgs(arguments.toArray(String[]::new))).as(arguments::toString)
                .doesNotThrowAnyException();
        }
    }

    @Test
    void portsVolumesAndKeysOfSecretsThatManifestsUseExist() throws IOException {
        Set<String> keys = new HashSet<>();
        manifests().stream().filter(each -> each.path("kind").asText().equals("Secret"))
            .forEach(each -> each.path("stringData").fieldNames().forEachRemaining(keys::add));
        for (JsonNode manifest : manifests()) {
            JsonNode pod = manifest.at("/spec/template/spec");
            Set<String> volumes = new HashSet<>(pod.findValuesAsText("claimName"));
            pod.path("volumes").forEach(volume -> volumes.add(volume.path("name").asText()));
            manifest.at("/spec/volumeClaimTemplates")
                .forEach(claim -> volumes.add(claim.at("/metadata/name").asText()));
            Stream.of(pod.path("containers"), pod.path("initContainers")).forEach(list -> list.forEach(container -> {
                container.path("volumeMounts").forEach(use -> assertThat(volumes).contains(use.path("name").asText()));
                Set<String> ports = new HashSet<>();
                container.path("ports").forEach(port -> ports.add(port.path("name").asText()));
                container.findValues("port").forEach(port -> assertThat(ports).contains(port.asText()));
                container.path("command").forEach(word -> {
                    if (word.asText().startsWith("/secrets/")) {
                        assertThat(keys).contains(word.asText().substring("/secrets/".length()));
                    }
                });
            }));
        }
    }

    @Test
    void shardsWithAPageHaveASecretForTheStatusOfOthers() throws IOException {
        assertThat(containers()).anyMatch(container -> container.path("env").findValuesAsText("name")
            .contains("MODELDISK_SERVE_ADMIN"));
        String secrets = manifests().stream().filter(each -> each.path("kind").asText().equals("Secret")).findFirst()
            .orElseThrow().at("/stringData/shards").asText();
        assertThat(ChapSecrets.parse(secrets, "the secrets of the shards").ofObserver()).isNotNull();
    }

    @Test
    void documentedCommandReplacesTheImageOfEveryContainer() throws IOException {
        Matcher command = Pattern
            .compile("(?m)^sed -i 's\\|(\\S+ \\S+)\\|image: \\S+\\|' deploy/kubernetes/\\*\\.yaml$")
            .matcher(Files.readString(Pages.ROOT.resolve("docs/operations.md")));
        assertThat(command.find()).isTrue();
        Pattern replaced = Pattern.compile(command.group(1), Pattern.MULTILINE);
        try (Stream<Path> files = Files.list(FOLDER)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".yaml")).toList()) {
                assertThat(replaced.matcher(Files.readString(file)).replaceAll("")).doesNotContain("image:");
            }
        }
    }

    @Test
    void containerfileCopiesWhatTheBuildMakesAndManifestsUseItsUser() throws IOException {
        String file = Files.readString(FOLDER.resolve("Containerfile"));
        Matcher copies = Pattern.compile("(?m)^COPY (\\S+) ").matcher(file);
        assertThat(copies.find()).isTrue();
        assertThat(Pages.ROOT.resolve(copies.group(1)).resolve("bin/modeldisk")).isExecutable();
        Matcher user = Pattern.compile("--uid (\\d+)").matcher(file);
        assertThat(user.find()).isTrue();
        for (JsonNode manifest : manifests()) {
            manifest.findValues("runAsUser").forEach(id -> assertThat(id.asText()).isEqualTo(user.group(1)));
        }
    }
}
