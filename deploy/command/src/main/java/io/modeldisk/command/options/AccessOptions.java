package io.modeldisk.command.options;

import io.modeldisk.mount.fuse.FileAccess;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options of a mount that control which users may use its files. */
public final class AccessOptions {
    @Option(names = "--uid", paramLabel = "N",
        description = "The user ID of the files' owner. Only root can name another user. Default: the mounting user.")
    private Integer userId;

    @Option(names = "--gid", paramLabel = "N",
        description = "The group ID of the files. Default: the mounting user's group.")
    private Integer groupId;

    @Option(names = "--mode", paramLabel = "OCTAL", defaultValue = "0600", converter = Octal.class,
        description = "The permissions of the files, 0400 to 0666. The last digit has an effect only with --allow-other.")
    private int mode;

    @Option(names = "--allow-other", fallbackValue = "true",
        description = "Also admit users who are neither the owner nor in the group, with the permissions of --mode. If the "
            + "mounting user is not root, /etc/fuse.conf must have the line user_allow_other.")
    private boolean allowOther;

    /** Returns the access that these options describe. */
    public FileAccess access() {
        FileAccess own = FileAccess.ofThisUser();
        return new FileAccess(userId == null ? own.userId() : userId, groupId == null ? own.groupId() : groupId, mode,
            allowOther);
    }

    /** Converts octal digits to a number. */
    static final class Octal implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            try {
                return Integer.parseInt(value, 8);
            } catch (NumberFormatException e) {
                throw new TypeConversionException("'" + value + "' is not an octal number; write it like 0600");
            }
        }
    }
}
