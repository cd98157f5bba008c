package io.modeldisk.command;

import io.modeldisk.mount.ModelMount;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The command {@code modeldisk unmount}. */
@Command(name = "unmount", mixinStandardHelpOptions = true,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:The directory is unmounted, and the process of the mount has exited.",
        "1:No model is mounted on the directory, or a process still uses the mount.",
        ExitStatus.WRONG},
    description = "Unmounts a model and returns when the mount has stopped. Fails if another process still holds the mount, for "
        + "example a container in its own mount namespace. fusermount3 -u DIR unmounts too, but does not wait.")
final class UnmountCommand implements Callable<Integer> {
    @Parameters(paramLabel = "DIR", description = "The directory of the mount.")
    private Path directory;

    @Override
    public Integer call() throws IOException {
        ModelMount.unmount(directory);
        return 0;
    }
}
