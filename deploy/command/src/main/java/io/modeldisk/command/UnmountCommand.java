package io.modeldisk.command;

import io.modeldisk.mount.ModelMount;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The command {@code modeldisk unmount}. */
@Command(name = "unmount", mixinStandardHelpOptions = true,
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
