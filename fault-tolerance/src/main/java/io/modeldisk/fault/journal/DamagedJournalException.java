package io.modeldisk.fault.journal;

import io.modeldisk.platform.SettingException;
import java.nio.file.Path;

/** Thrown if a journal has lost acknowledged pushes, or does not belong to this shard. The message says what to do. */
public final class DamagedJournalException extends SettingException {
    private static final long serialVersionUID = 1;

    DamagedJournalException(String message, Throwable cause) {
        super(message, cause);
    }

    static DamagedJournalException of(Path file, String reason, Throwable cause) {
        Path journals = file.getParent().getParent();
        return new DamagedJournalException("the journal cannot be used: " + file + " " + reason
            + "; acknowledged pushes would be lost. Restore the file, or stop all shards and move " + journals
            + " away to continue from the newest checkpoint without these pushes", cause);
    }
}
