package io.modeldisk.doctor.collect;

import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.striping.ModelAddress;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Gathers what the report of an error needs. */
public final class BugReport {
    private static final Path SETTINGS_FOLDER = Path.of("/etc/modeldisk");
    private static final Duration CRASHES_LIMIT = Duration.ofSeconds(10);
    private static final List<String> SECRET_FILES = List.of("--secrets", "--admin-token");

    private final List<ModeldiskProcess> processes;
    private final KnownSecrets secrets = new KnownSecrets();
    private final Path settings;
    private final SettingsFolder folder = SettingsFolder.of(SETTINGS_FOLDER);

    /** Looks for the processes, the settings and the secrets of this machine. {@code login}: a secrets file, or null. */
    public BugReport(SettingsNames names, Path login) throws IOException {
        processes = ModeldiskProcess.all(names);
        settings = Path.of(System.getenv().getOrDefault("MODELDISK_CONFIG", names.defaultFile())).toAbsolutePath();
        if (login != null) {
            secrets.add(login);
        }
        findSecrets();
    }

    private void findSecrets() {
        addNamedBy(ModeldiskProcess.properties(settings), Path.of("").toAbsolutePath());
        System.getenv().forEach((variable, value) -> addIfFile(variable, value, Path::of));
        for (ModeldiskProcess process : processes) {
            addNamedBy(ModeldiskProcess.properties(process.settingsFile()), process.resolve("."));
            process.environment().forEach((variable, value) -> addIfFile(variable, value, process::resolve));
            for (String option : SECRET_FILES) {
                String file = process.option(option);
                if (file != null) {
                    secrets.add(process.resolve(file));
                }
            }
            String credentials = process.environment().get("CREDENTIALS_DIRECTORY");
            if (credentials != null) {
                secrets.add(Path.of(credentials, "secrets"));
            }
        }
        folder.files().forEach(file -> addIfFile(file.getFileName().toString(), file.toString(), Path::of));
    }

    private void addNamedBy(Properties properties, Path folder) {
        for (String key : properties.stringPropertyNames()) {
            addIfFile(key, properties.getProperty(key), folder::resolve);
        }
    }

    /** Adds a file if the name of its setting, or its own name, sounds like secrets. */
    private void addIfFile(String name, String value, Function<String, Path> resolve) {
        if (!Masking.isSensitive(name)) {
            return;
        }
        try {
            Path file = resolve.apply(value);
            if (Files.isRegularFile(file)) {
                secrets.add(file);
            }
        } catch (InvalidPathException e) {
            // The value is not the name of a file. With the locale C, names of files are ASCII.
        }
    }

    /**
     * Writes the archive.
     *
     * @param archive the file to create
     * @param first the versions and the findings of the doctor
     * @param model a model whose shards are asked for their status; may be null
     * @param login the secrets of the login to shards; may be null
     * @return what could not be read, with the reasons
     * @throws IOException if the archive exists already or cannot be written
     */
    public List<String> write(Path archive, List<Item> first, ModelAddress model, ChapSecrets login)
        throws IOException {
        Masking masking = new Masking(secrets.all());
        List<Item> items = new ArrayList<>(first);
        items.add(new Item("environment.txt", () -> ProcessItems.ownEnvironment(masking)));
        List<Path> used = new ArrayList<>(List.of(settings));
        processes.stream().map(ModeldiskProcess::settingsFile).filter(Objects::nonNull).forEach(used::add);
        items.addAll(SettingsItems.all(folder, used, secrets, masking));
        items.addAll(ShardStatusItems.of(model, processes, login));
        for (ModeldiskProcess process : processes) {
            items.addAll(ProcessItems.of(process, masking));
        }
        items.addAll(MachineItems.all());
        Set<Path> folders = new LinkedHashSet<>(
            List.of(Path.of("").toAbsolutePath(), Path.of("/tmp"), Path.of("/var/log/modeldisk"),
                Path.of("/var/lib/modeldisk")));
        processes.forEach(process -> folders.add(process.resolve(".").toAbsolutePath().normalize()));
        items.addAll(crashes(folders));
        return new Collector(masking).write(archive, items);
    }

    /** Looks for reports of crashes. Another thread does, because a folder may be in a mount whose process has stopped. */
    private static List<Item> crashes(Set<Path> folders) throws IOException {
        CompletableFuture<List<Item>> found = CompletableFuture.supplyAsync(() -> MachineItems.crashes(folders),
            Thread.ofPlatform().daemon().name("collect-crashes")::start);
        try {
            return FutureWait.isDoneWithin(found, CRASHES_LIMIT, NanoClock.SYSTEM)
                ? found.join()
                : List.of(Item.unreadable("crashes", new IOException(
                    "the search in " + folders + " took more than " + CRASHES_LIMIT.toSeconds() + " s")));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the doctor was interrupted");
        }
    }
}
