package io.modeldisk.doctor.collect;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The files below a folder with settings. What this user cannot read does not hide the rest. */
final class SettingsFolder extends SimpleFileVisitor<Path> {
    private static final int DEPTH = 3;

    private final List<Path> files = new ArrayList<>();
    private final List<Item> unreadable = new ArrayList<>();

    /** Finds the files. Finds none if the folder does not exist. */
    static SettingsFolder of(Path folder) throws IOException {
        SettingsFolder found = new SettingsFolder();
        if (Files.isDirectory(folder)) {
            Files.walkFileTree(folder, Set.of(), DEPTH, found);
        }
        return found;
    }

    /** The files, in the order of their names. */
    List<Path> files() {
        return files.stream().sorted().toList();
    }

    /** Items for what could not be read. */
    List<Item> unreadable() {
        return unreadable;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
        files.add(file);
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException reason) {
        unreadable.add(Item.unreadable(SettingsItems.name(file), reason));
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path folder, IOException reason) {
        return reason == null ? FileVisitResult.CONTINUE : visitFileFailed(folder, reason);
    }
}
