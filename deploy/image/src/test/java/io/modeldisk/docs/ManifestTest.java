package io.modeldisk.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.modeldisk.command.Main;
import io.modeldisk.command.settings.Settings;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Checks the Kubernetes fields and the modeldisk settings in the manifests in deploy/kubernetes. */
final class ManifestTest {
    private static final Path FOLDER = Pages.ROOT.resolve("deploy/kubernetes");
    private static final YAMLMapper YAML = new YAMLMapper();
    /**
     * The Kubernetes fields that the manifests use. Each line contains parent fields, and the fields that are allowed inside
     * them; [] marks a list. If a manifest needs another field of the Kubernetes reference, add it here.
     */
    private static final Map<String, List<String>> FIELDS = """
        manifest: apiVersion kind metadata spec type stringData
        metadata: name labels
        template volumeClaimTemplates: metadata spec
        spec: accessModes[] clusterIP containers[] initContainers[] maxUnavailable nodeSelector podManagementPolicy ports[]
        spec: replicas resources securityContext selector serviceName template terminationGracePeriodSeconds
        spec: volumeClaimTemplates[] volumes[]
        selector: app part model matchLabels
        containers initContainers: name image command[] args[] env[] ports[] resources securityContext volumeMounts[] lifecycle
        containers: readinessProbe livenessProbe startupProbe
        readinessProbe livenessProbe startupProbe: tcpSocket exec httpGet timeoutSeconds periodSeconds failureThreshold
        ports: name port containerPort
        tcpSocket httpGet: path port
        exec: command[]
        lifecycle: preStop
        preStop: exec
        env: name value valueFrom
        valueFrom: fieldRef
        fieldRef: fieldPath
        resources: requests limits
        securityContext: runAsNonRoot runAsUser runAsGroup fsGroup allowPrivilegeEscalation readOnlyRootFilesystem
        securityContext: capabilities seccompProfile privileged
        capabilities: drop[]
        seccompProfile: type
        volumeMounts: name mountPath readOnly mountPropagation
        volumes: name secret emptyDir hostPath persistentVolumeClaim
        secret: secretName
        emptyDir: medium sizeLimit
        hostPath: path type
        persistentVolumeClaim: claimName
        """.lines()
        .flatMap(line -> Stream.of(line.split(": ")[0].split(" ")).map(parent -> parent + ": " + line.split(": ")[1]))
        .collect(Collectors.groupingBy(line -> line.split(": ")[0],
            Collectors.flatMapping(line -> Stream.of(line.split(": ")[1].split(" ")), Collectors.toList())));
    /** The fields whose members have arbitrary names. */
    private static final Set<String> MAPS = Set.of("labels", "matchLabels", "nodeSelector", "stringData", "requests",
        "limits");

    static List<JsonNode> manifests() throws IOException {
        List<JsonNode> manifests = new ArrayList<>();
        try (Stream<Path> files = Files.list(FOLDER)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".yaml")).sorted().toList()) {
                YAML.readerFor(JsonNode.class).<JsonNode>readValues(file.toFile()).forEachRemaining(manifests::add);
            }
        }
        return manifests;
    }

    /** Checks recursively that a field contains only fields that {@code FIELDS} allows there. */
    private static void check(String field, JsonNode value) {
        if (value.isArray()) {
            value.forEach(each -> check(field, each));
        } else if (value.isObject() && !MAPS.contains(field)) {
            for (Map.Entry<String, JsonNode> each : value.properties()) {
                assertThat(FIELDS.getOrDefault(field, List.of())).as("fields in '%s'", field)
                    .contains(each.getValue().isArray() ? each.getKey() + "[]" : each.getKey());
                check(each.getKey(), each.getValue());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("manifests")
    void everyFieldIsAllowedInItsParent(JsonNode manifest) {
        check("manifest", manifest);
        assertThat(manifest.at("/metadata/name").asText()).isNotEmpty();
    }

    @Test
    void checkFindsMisplacedFieldsAndWrongTypes() throws IOException {
        JsonNode first = manifests().stream().filter(each -> each.path("kind").asText().equals("StatefulSet"))
            .findFirst()
            .orElseThrow();
        for (String place : List.of("/spec", "/spec/template/spec",
            "/spec/template/spec/containers/0/securityContext")) {
            JsonNode broken = first.deepCopy();
            ((ObjectNode) broken.at(place)).put("path", 2);
            assertThatThrownBy(() -> check("manifest", broken)).hasMessageContaining("path");
        }
        JsonNode wrong = first.deepCopy();
        ((ObjectNode) wrong.at("/spec/template/spec")).put("containers", "coordinator");
        assertThatThrownBy(() -> check("manifest", wrong)).hasMessageContaining("containers");
    }

    private static List<JsonNode> containers() throws IOException {
        List<JsonNode> containers = new ArrayList<>();
        for (JsonNode manifest : manifests()) {
            manifest.at("/spec/template/spec/containers").forEach(containers::add);
        }
        return containers;
    }

    @Test
    void settingsAndArgumentsOfContainersAreValid() throws IOException {
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
    void manifestsDefineTheirPortsVolumesAndSecretKeys() throws IOException {
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
    void secretsOfShardsWithAnAdminPageContainAStatusLine() throws IOException {
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
    void manifestsUseTheUserOfTheContainerfile() throws IOException {
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
