package io.modeldisk.mount.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.dialect.ValueType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NamedTensorTest {
    private static List<NamedTensor> parse(String json) throws IOException {
        return NamedTensor.parse(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8), 24);
    }

    @Test
    void parsedTensorsAreInTheOrderOfTheirData() throws IOException {
        assertThat(
            parse("{'b':{'dtype':'F32','shape':[2,2],'data_offsets':[8,24]},'a':{'shape':[2],'data_offsets':[0,8]},"
                + "'none':{'shape':[0,9223372036854775807],'data_offsets':[8,8]}}"))
            .containsExactly(
                new NamedTensor("a", List.of(2L), 0, 8),
                new NamedTensor("none", List.of(0L, Long.MAX_VALUE), 8, 8),
                new NamedTensor("b", List.of(2L, 2L), 8, 24));
    }

    @Test
    void metadataOfTheInitialWeightsIsNoTensor() throws IOException {
        String json = "{'__metadata__':{'license':'MIT'},'a':{'shape':[],'data_offsets':[0,4]}}";
        assertThat(parse(json)).containsExactly(new NamedTensor("a", List.of(), 0, 4));
        assertThat(NamedTensor.metadata(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8)))
            .isEqualTo(Map.of("license", "MIT"));
        assertThat(NamedTensor.metadata("{}".getBytes(StandardCharsets.UTF_8))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{'a':{'shape':[7],'data_offsets':[0,28]}}", "{'a':{'shape':[2],'data_offsets':[0,12]}}",
        "{'a':{'shape':[-1],'data_offsets':[4,0]}}", "{'a':{'shape':[2]}}", "{'a':7}",
        "{'a':{'shape':[4611686018427387904,4],'data_offsets':[0,0]}}"})
    void tensorThatDoesNotFitTheModelIsRefused(String json) {
        assertThatThrownBy(() -> parse(json)).isInstanceOf(IOException.class)
            .hasMessageStartingWith("tensor 'a' of shape ");
    }

    @Test
    void jsonHasTheTypeAndTheByteRangeOfEachTensor() throws IOException {
        List<NamedTensor> tensors = parse(
            "{'a':{'shape':[2],'data_offsets':[0,8]},'b':{'shape':[4],'data_offsets':[8,24]}}");
        assertThat(NamedTensor.parse(NamedTensor.toJson(tensors, ValueType.FLOAT32), 24)).isEqualTo(tensors);
        assertThat(
            new String(NamedTensor.toJson(tensors, ValueType.BFLOAT16), StandardCharsets.UTF_8).replace('"', '\''))
            .isEqualTo("{'a':{'dtype':'BF16','shape':[2],'data_offsets':[0,4]},"
                + "'b':{'dtype':'BF16','shape':[4],'data_offsets':[4,12]}}");
    }

    @Test
    void textThatIsNotJsonIsRefused() {
        assertThatThrownBy(() -> parse("{'a':")).isInstanceOf(IOException.class).hasMessageContaining("not valid JSON");
    }
}
