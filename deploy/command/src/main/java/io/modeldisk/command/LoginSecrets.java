package io.modeldisk.command;

import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.login.chap.SecretsFile;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The secrets that a command logs in to a shard with. */
final class LoginSecrets {
    @Option(names = "--secrets", paramLabel = "FILE",
        description = "The file of the CHAP secrets: a line 'self NAME SECRET' to log in with, and 'peer NAME SECRET' to "
            + "make the shards authenticate too. Only its owner may read it.")
    private Path file;

    /** The secrets, or null. */
    ChapSecrets read() throws IOException {
        if (file == null) {
            return null;
        }
        ChapSecrets secrets = SecretsFile.read(file);
        if (!secrets.hasSelf()) {
            throw new IOException(
                "the secrets file " + file + " has no line 'self NAME SECRET'; add one to log in with");
        }
        return secrets;
    }
}
