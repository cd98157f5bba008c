package io.modeldisk.command;

import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.login.chap.SecretsFile;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** What a command that uses a model logs in with. */
final class LoginSecrets {
    @Option(names = "--secrets", paramLabel = "FILE",
        description = "What to log in with, by CHAP: a line 'self NAME SECRET', and 'peer NAME SECRET' if the shards shall "
            + "authenticate too. A file that only its owner may read.")
    private Path file;

    /** The secrets, or null. */
    ChapSecrets read() throws IOException {
        if (file == null) {
            return null;
        }
        ChapSecrets secrets = SecretsFile.read(file);
        if (!secrets.hasSelf()) {
            throw new IOException("the secrets file " + file + " has no line 'self NAME SECRET' to log in with");
        }
        return secrets;
    }
}
