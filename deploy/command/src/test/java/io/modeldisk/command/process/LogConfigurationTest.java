package io.modeldisk.command.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.DefaultConfiguration;
import org.apache.logging.log4j.core.impl.Log4jLogEvent;
import org.apache.logging.log4j.message.SimpleMessage;
import org.junit.jupiter.api.Test;

final class LogConfigurationTest {
    private static String line(Throwable thrown) {
        return LogConfiguration.layout(new DefaultConfiguration()).toSerializable(Log4jLogEvent.newBuilder()
            .setLevel(Level.ERROR).setMessage(new SimpleMessage("failed")).setThrown(thrown).build());
    }

    @Test
    void messageOfAnExceptionFollowsTheLogMessageOnTheSameLine() {
        assertThat(line(new IOException("no host"))).matches("\\S+ ERROR failed: no host\n");
    }

    @Test
    void lineWithoutAnExceptionEndsAfterItsMessage() {
        assertThat(line(null)).matches("\\S+ ERROR failed\n");
    }
}
