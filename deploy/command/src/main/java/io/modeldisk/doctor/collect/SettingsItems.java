package io.modeldisk.doctor.collect;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.StringJoiner;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The settings files of this machine. They are parsed, so that a comment or a line that goes on cannot hide a secret. */
final class SettingsItems {
    private static final Path FOLDER = Path.of("/etc/modeldisk");
    private static final int DEPTH = 3;
    private static final String ENDING = ".properties";

    private SettingsItems() {}

    /** Returns the files below /etc/modeldisk, and the settings file of this process if it is another one. */
    static List<Item> all(Path own, KnownSecrets secrets, Masking masking) throws IOException {
        List<Path> files = new ArrayList<>();
        if (Files.isDirectory(FOLDER)) {
            try (Stream<Path> found = Files.walk(FOLDER, DEPTH)) {
                found.filter(file -> file.toString().endsWith(ENDING) && !secrets.isFile(file)).sorted()
                    .forEach(files::add);
            }
        }
        if (!files.contains(own) && Files.exists(own) && !secrets.isFile(own)) {
            files.add(own);
        }
        return files.stream()
            .map(file -> new Item("settings" + file.toAbsolutePath() + ".txt", () -> text(file, masking))).toList();
    }

    /** Returns the settings of a file without secrets and without comments. */
    static String text(Path file, Masking masking) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        }
        StringJoiner text = new StringJoiner("\n", "# " + file + ", without its comments\n", "\n");
        for (String key : new TreeSet<>(properties.stringPropertyNames())) {
            // Line by line: the whole assignment is masked too, because the name alone may not betray a secret.
            text.add(
                masking.mask(key + "=" + masking.maskValue(key, properties.getProperty(key)).replace("\n", "\\n")));
        }
        return text.toString();
    }
}
