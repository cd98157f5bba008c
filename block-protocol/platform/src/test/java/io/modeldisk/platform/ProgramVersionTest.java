package io.modeldisk.platform;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ProgramVersionTest {
    @Test
    void versionEqualsTheVersionOfTheBuild() throws Exception {
        assertThat(Files.readString(Path.of("../../pom.xml")))
            .containsPattern("<version>" + ProgramVersion.TEXT + "(-SNAPSHOT)?</version>");
    }
}
