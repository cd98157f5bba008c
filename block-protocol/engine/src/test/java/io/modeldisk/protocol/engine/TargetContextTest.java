package io.modeldisk.protocol.engine;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TargetContextTest {
    static Stream<Arguments> invalid() {
        return Stream.of(
            invalid(context -> context.datamovers(List.of()), "datamovers=[] must name at least one datamover"),
            invalid(context -> context.maxConnections(0), "maxConnections=0 must be at least 1"),
            invalid(context -> context.maxCommands = 1, "maxCommands=1 must be at least 2"),
            invalid(context -> context.waitBound(Duration.ZERO), "waitBound=0s must be longer than 0s"),
            invalid(context -> context.pingInterval(Duration.ZERO), "pingInterval=0s must be longer than 0s"),
            invalid(context -> context.bufferBytes(1 << 20), "bufferBytes=1048576 must be at least 159383552"));
    }

    private static Arguments invalid(Consumer<TargetContext> setting, String message) {
        return Arguments.of(setting, message);
    }

    @ParameterizedTest
    @MethodSource("invalid")
    void invalidSettingIsRefusedWithItsNameAndValue(Consumer<TargetContext> setting, String message) {
        TargetContext context = new TargetContext();
        setting.accept(context);
        assertThatThrownBy(context::conclude).isInstanceOf(IllegalArgumentException.class)
            .hasMessageStartingWith(message);
    }
}
