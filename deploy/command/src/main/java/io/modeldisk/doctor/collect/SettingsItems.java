package io.modeldisk.doctor.collect;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;

/** The settings files of this machine. They are parsed, so that a comment or a line that goes on cannot hide a secret. */
final class SettingsItems {
    private static final String ENDING = ".properties";

    private SettingsItems() {}

    /**
     * Returns an item for each settings file, and for what cannot be read.
     *
     * @param used the settings files of processes, also those that do not exist
     */
    static List<Item> all(SettingsFolder folder, Collection<Path> used, KnownSecrets secrets, Masking masking) {
        Set<Path> files = new TreeSet<>(folder.files());
        files.removeIf(file -> !file.toString().endsWith(ENDING));
        used.stream().filter(Files::exists).map(Path::toAbsolutePath).forEach(files::add);
        files.removeIf(secrets::isFile);
        List<Item> items = new ArrayList<>(folder.unreadable());
        files.forEach(file -> items.add(new Item(name(file), () -> text(file, masking))));
        return items;
    }

    /** Returns the name of the item for a file. */
    static String name(Path file) {
        return "settings" + file.toAbsolutePath() + ".txt";
    }

    /** Returns the settings of a file without secrets and without comments. */
    private static String text(Path file, Masking masking) throws IOException {
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
