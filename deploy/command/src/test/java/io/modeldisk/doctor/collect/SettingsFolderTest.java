package io.modeldisk.doctor.collect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsFolderTest {
    @TempDir
    private Path directory;

    @Test
    void filesOfAllFoldersAreFound() throws IOException {
        Path below = Files.createDirectory(directory.resolve("below"));
        Path first = Files.writeString(directory.resolve("a.properties"), "a=1\n");
        Path second = Files.writeString(below.resolve("b.properties"), "b=1\n");

        assertThat(SettingsFolder.of(directory).files()).containsExactly(first, second);
        assertThat(SettingsFolder.of(directory.resolve("missing")).files()).isEmpty();
    }

    /** Calls the visitor itself, because the tests may run as root, which can read every folder. */
    @Test
    void folderThatCannotBeReadIsNamedAndTheOthersFollow() throws IOException {
        Path closed = directory.resolve("closed");
        SettingsFolder folder = SettingsFolder.of(directory);

        assertThat(folder.visitFileFailed(closed, new AccessDeniedException(closed.toString())))
            .isEqualTo(FileVisitResult.CONTINUE);
        List<Item> items = SettingsItems.all(folder, List.of(), new KnownSecrets(), new Masking(List.of()));
        assertThat(items).extracting(Item::name).containsExactly("settings" + closed + ".txt");
        assertThatThrownBy(() -> items.getFirst().text().call()).isInstanceOf(IOException.class)
            .hasMessageContaining("AccessDenied");
    }

    @Test
    void fileThatAProcessUsesIsAnItemOnce() throws IOException {
        Path file = Files.writeString(directory.resolve("a.properties"), "a=1\n");
        Path other = Files.writeString(directory.resolve("other"), "b=1\n");

        assertThat(SettingsItems.all(SettingsFolder.of(directory), List.of(file, other, directory.resolve("missing")),
            new KnownSecrets(), new Masking(List.of()))).extracting(Item::name)
            .containsExactly("settings" + file + ".txt", "settings" + other + ".txt");
    }
}
