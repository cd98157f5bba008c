package io.modeldisk.striping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.login.TargetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelAddressTest {
    @Test
    void parsedAddressHasTheShardsInOrderAndTheModelName() {
        ModelAddress address = ModelAddress.parse("modeldisk://127.0.0.1:1,127.0.0.2:2/model-1.a");
        assertThat(address.model()).isEqualTo("model-1.a");
        assertThat(address.shards()).map(TargetAddress::text).containsExactly("127.0.0.1:1", "127.0.0.2:2");
    }

    @Test
    void addressWithoutPortUsesPort3260() {
        assertThat(ModelAddress.parse("modeldisk://127.0.0.1/m").shards().getFirst().getPort()).isEqualTo(3260);
    }

    @Test
    void ipv6AddressInBracketsIsAccepted() {
        assertThat(ModelAddress.parse("modeldisk://[::1]:77/m").shards().getFirst().getPort()).isEqualTo(77);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", "host/m", "modeldisk://", "modeldisk://h", "modeldisk:///m", "modeldisk://h/", "modeldisk://h/m/n",
        "modeldisk://h,/m", "modeldisk://,h/m", "modeldisk://h:x/m", "modeldisk://h:70000/m", "modeldisk://::1/m",
        "modeldisk://h/Model", "modeldisk://h/-m", "http://h/m"
    })
    void malformedAddressIsRefused(String text) {
        assertThatThrownBy(() -> ModelAddress.parse(text)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("'");
    }

    @Test
    void modelNameLongerThan64CharactersIsRefused() {
        assertThat(ModelAddress.parse("modeldisk://h/" + "m".repeat(64)).model()).hasSize(64);
        assertThatThrownBy(() -> ModelAddress.parse("modeldisk://h/" + "m".repeat(65)))
            .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void portWithoutHostIsRefused() {
        assertThatThrownBy(() -> TargetAddress.parse("3260", 1)).hasMessageContaining("must have the form HOST");
    }
}
