package io.modeldisk.mount.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.striping.ReadVersion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FileHeadTest {
    private static final ReadVersion FIRST = new ReadVersion(0, 0, 0, 0, 0, 0, true);
    private static final ReadVersion ASP = new ReadVersion(ReadVersion.NO_ROUND, 3, 1234567, 0, 0, 0, false);

    private static ModelFacts facts(String consistency) {
        return new ModelFacts("m", 40, 4096, 0, 1, "sgd:lr=1", consistency, 1, "zeros");
    }

    private static JsonNode json(byte[] head) throws IOException {
        assertThat(ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getLong()).isEqualTo(head.length - 8);
        return new ObjectMapper().readTree(Arrays.copyOfRange(head, 8, head.length));
    }

    /** Returns the metadata of a model with the consistency mode asp. */
    private static JsonNode metadata(Map<String, String> initial) throws IOException {
        List<NamedTensor> tensors = List.of(new NamedTensor("a", List.of(10L), 0, 40));
        return json(FileHead.safetensors(facts("asp"), tensors, initial).of(ASP)).path("__metadata__");
    }

    @Test
    void safetensorsHeadHasTensorsAndVersionInAConstantNumberOfPages() throws IOException {
        FileHead head = FileHead.safetensors(facts("bsp"), List.of(new NamedTensor("a", List.of(), 0, 4),
            new NamedTensor("b/\"ä", List.of(3L, 3L), 4, 40)), Map.of());
        JsonNode first = json(head.of(FIRST));
        assertThat(first.path("__metadata__")).isEqualTo(new ObjectMapper().readTree("""
            {"format": "pt", "modeldisk.model": "m", "modeldisk.consistency": "bsp", "modeldisk.round": "0",
             "modeldisk.version.min": "0", "modeldisk.version.max": "0"}"""));
        assertThat(first.path("a")).isEqualTo(
            new ObjectMapper().readTree("{\"dtype\": \"F32\", \"shape\": [], \"data_offsets\": [0, 4]}"));
        assertThat(first.path("b/\"ä")).isEqualTo(
            new ObjectMapper().readTree("{\"dtype\": \"F32\", \"shape\": [3, 3], \"data_offsets\": [4, 40]}"));
        assertThat(first).hasSize(3);
        ReadVersion late = new ReadVersion(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, 0, 0, 0, true);
        assertThat(json(head.of(late)).path("__metadata__").path("modeldisk.round").asText())
            .isEqualTo("9223372036854775807");
        assertThat(head.bytes()).isEqualTo(4096).isEqualTo(head.of(FIRST).length).isEqualTo(head.of(late).length);
    }

    @Test
    void safetensorsHeadHasTheSpanOfVersionsIfTheModeHasNoRounds() throws IOException {
        JsonNode metadata = metadata(Map.of());
        assertThat(metadata.path("modeldisk.version.min").asText()).isEqualTo("3");
        assertThat(metadata.path("modeldisk.version.max").asText()).isEqualTo("1234567");
        assertThat(metadata.has("modeldisk.round")).isFalse();
    }

    @Test
    void safetensorsHeadHasTheMetadataOfTheInitialWeightsButNoneOfAnEarlierVersion() throws IOException {
        JsonNode metadata = metadata(Map.of("format", "np", "license", "MIT", "modeldisk.round", "7"));
        assertThat(metadata.path("format").asText()).isEqualTo("np");
        assertThat(metadata.path("license").asText()).isEqualTo("MIT");
        assertThat(metadata.has("modeldisk.round")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"|()", "5|(5,)", "2 3|(2, 3)"})
    void npyHeadHasTypeAndShape(String lengths, String shape) {
        List<Long> list = lengths == null ? List.of() : Arrays.stream(lengths.split(" ")).map(Long::valueOf).toList();
        byte[] head = FileHead.npy(new NamedTensor("a", list, 0, 0)).of(FIRST);
        assertThat(head.length % 64).isZero();
        assertThat(Arrays.copyOf(head, 8)).isEqualTo(new byte[]{(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0});
        assertThat(ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getShort(8))
            .isEqualTo((short) (head.length - 10));
        assertThat(new String(head, 10, head.length - 10, StandardCharsets.US_ASCII))
            .matches("\\Q{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }\\E *\n");
    }

    @Test
    void npyHeadOfManyDimensionsHasFormatTwo() {
        byte[] head = FileHead.npy(new NamedTensor("a", Collections.nCopies(30_000, 1L), 0, 4)).of(FIRST);
        assertThat(head[6]).isEqualTo((byte) 2);
        assertThat(ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getInt(8)).isEqualTo(head.length - 12);
        assertThat(head.length % 64).isZero();
    }
}
