package io.modeldisk.doctor.collect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineItemsTest {
    @TempDir
    private Path directory;

    @Test
    void reportOfACrashThatCannotBeReadIsNamedAndHidesNoOther() throws Exception {
        Files.createDirectory(directory.resolve("hs_err_pid1.log"));
        for (int i = 2; i < 8; i++) {
            Files.writeString(directory.resolve("hs_err_pid" + i + ".log"), "# io.modeldisk.command.Main\n");
        }
        Files.writeString(directory.resolve("hs_err_pid8.log"), "# another program\n");

        List<Item> items = MachineItems.crashes(List.of(directory.resolve("missing"), directory));

        assertThat(items).hasSize(7);
        assertThat(items.getFirst().text().call()).contains("io.modeldisk");
        assertThat(items.getLast().name()).isEqualTo("crashes" + directory.resolve("hs_err_pid1.log") + ".txt");
        assertThatThrownBy(() -> items.getLast().text().call()).hasMessageContaining("it is no regular file");
    }
}
