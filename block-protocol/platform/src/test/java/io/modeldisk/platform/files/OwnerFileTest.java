package io.modeldisk.platform.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OwnerFileTest {
    @TempDir
    private Path folder;

    private Path file(String permissions) throws IOException {
        Path file = Files.writeString(folder.resolve("secrets"), "self a correct-horse-battery\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }

    /** Since version 254, systemd uses an access control list, so the permissions of a credential are r--r-----. */
    @Test
    void credentialWithAnAccessControlListIsRead() throws IOException {
        assertThat(OwnerFile.read(file("r--r-----"), "secrets file", folder.toString())).startsWith("self a");
    }

    @Test
    void fileThatTheGroupCanReadIsRefusedUnlessItIsACredential() throws IOException {
        Path file = file("r--r-----");
        assertThatThrownBy(() -> OwnerFile.read(file, "secrets file", null)).hasMessageContaining("run chmod 600");
        assertThatThrownBy(() -> OwnerFile.read(file, "secrets file", "/run/credentials/other.service"))
            .hasMessageContaining("run chmod 600");
    }

    @Test
    void credentialThatOthersCanReadOrTheGroupCanWriteIsRefused() throws IOException {
        for (String permissions : new String[]{"r--r--r--", "r--rw----"}) {
            Path file = file(permissions);
            assertThatThrownBy(() -> OwnerFile.read(file, "secrets file", folder.toString()))
                .hasMessageContaining("run chmod 600");
        }
    }
}
