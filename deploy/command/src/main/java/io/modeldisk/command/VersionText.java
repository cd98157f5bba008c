package io.modeldisk.command;

import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.fault.journal.JournalSettings;
import io.modeldisk.platform.ProgramVersion;
import io.modeldisk.protocol.dialect.ModelFacts;
import picocli.CommandLine.IVersionProvider;

/** The text of {@code modeldisk --version}: the versions of the program, of the protocol and of the file formats. */
public final class VersionText implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[]{"modeldisk " + ProgramVersion.TEXT,
            "protocol " + ModelFacts.PROTOCOL + ", checkpoints of format "
                + CheckpointSettings.FORMAT + ", journals of format " + JournalSettings.FORMAT,
            "Java " + Runtime.version()};
    }
}
