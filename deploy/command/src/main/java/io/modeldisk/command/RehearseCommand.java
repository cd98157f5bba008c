package io.modeldisk.command;

import io.modeldisk.command.address.ModelLocators;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * The hidden command {@code modeldisk rehearse}. It runs other commands in one process, while Java records the classes that these
 * commands use. deploy/image/cache creates an ahead-of-time cache of these classes.
 */
@Command(name = "rehearse", hidden = true, description = "Runs help, status, mount and unmount in this process.")
final class RehearseCommand implements Callable<Integer> {
    private static final int MOUNT_SECONDS = 30;

    @Parameters(index = "0", paramLabel = ModelLocators.FORMS, description = "A model with one shard.")
    private String address;

    @Parameters(index = "1", paramLabel = "DIR", description = "An empty directory.")
    private Path directory;

    @Override
    public Integer call() throws IOException {
        modeldisk("--help");
        modeldisk("mount", "--help");
        modeldisk("status", address);
        ThreadName.MOUNT_CHECK.builder().start(this::useMount);
        return modeldisk("mount", address, directory.toString(), "--foreground");
    }

    private static int modeldisk(String... arguments) throws IOException {
        return Main.commandLine(arguments).execute(arguments);
    }

    /**
     * Reads the model, pushes a gradient and unmounts. If this machine cannot mount, the process ends with the mount command
     * before this method does anything.
     */
    private void useMount() {
        try {
            Path status = directory.resolve("status.json");
            for (int i = 0; i < MOUNT_SECONDS && !Files.exists(status); i++) {
                NanoClock.SYSTEM.sleep(1, TimeUnit.SECONDS);
            }
            Path model = directory.resolve("model");
            Files.write(model, Files.readAllBytes(model));
            modeldisk("status", directory.toString());
            modeldisk("unmount", directory.toString());
        } catch (IOException | InterruptedException e) {
            System.err.println("modeldisk rehearse: the mount was not used: " + e.getMessage());
        }
    }
}
