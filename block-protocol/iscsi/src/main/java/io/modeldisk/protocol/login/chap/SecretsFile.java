package io.modeldisk.protocol.login.chap;

import io.modeldisk.platform.files.OwnerFile;
import java.io.IOException;
import java.nio.file.Path;

/** Reads {@link ChapSecrets} from an {@link OwnerFile}. */
public final class SecretsFile {
    private SecretsFile() {}

    /**
     * Reads a secrets file.
     *
     * @throws IOException if the file is missing or malformed, or if other users can read or write it; the message has a remedy
     */
    public static ChapSecrets read(Path file) throws IOException {
        try {
            return ChapSecrets.parse(OwnerFile.read(file, "secrets file"), file.toString());
        } catch (IllegalArgumentException e) {
            throw new IOException("the secrets file " + e.getMessage(), e);
        }
    }
}
