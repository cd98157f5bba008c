package io.modeldisk.command.options;

import io.modeldisk.platform.SettingException;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import picocli.CommandLine.Option;

/** The option for the secrets of the login to a shard. */
public final class LoginSecrets {
    @Option(names = "--secrets", paramLabel = "FILE",
        description = "The file of the CHAP secrets. The line 'self NAME SECRET' is for the login. With a line 'peer NAME "
            + "SECRET', the shards must authenticate too. The file must be readable only by its owner.")
    private Path file;

    /** Reads the secrets file. Returns a function that sets these secrets for a session. */
    public Consumer<SessionContext> session() throws IOException {
        ChapSecrets read = read();
        return context -> context.secrets(read);
    }

    /** Reads the secrets file. Returns null if the option is not set. */
    public ChapSecrets read() throws IOException {
        if (file == null) {
            return null;
        }
        ChapSecrets secrets = ChapSecrets.read(file);
        if (!secrets.hasSelf()) {
            throw new SettingException(
                "the secrets file " + file + " has no line 'self NAME SECRET', which a login needs; add such a line");
        }
        return secrets;
    }
}
