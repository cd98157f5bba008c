package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

final class MountTableTest {
    @Test
    void lookupReturnsTheLaterOfTwoMountsOnOneDirectory() {
        MountTable table = MountTable.parse(List.of("1 0 8:1 / /a rw shared:1 - ext4 /dev/sda rw",
            "2 1 0:5 / /a rw,nosuid - fuse.modeldisk modeldisk rw,user_id=0", "nonsense"));
        assertThat(table.at(Path.of("/a"))).hasValueSatisfying(
            entry -> assertThat(entry.type()).isEqualTo("fuse.modeldisk"));
        assertThat(table.at(Path.of("/b"))).isEmpty();
        assertThat(table.placesOf("0:5")).containsExactly("/a");
        assertThat(table.placesOf("0:6")).isEmpty();
        assertThat(table.placesOf("8:1")).as("a mount of another file system").isEmpty();
    }

    @Test
    void escapedBlanksAndBackslashesInPathsAreDecoded() {
        MountTable table = MountTable.parse(List.of("1 0 8:1 / /a\\040b\\134c\\303\\244 rw - ext4 /dev/sda rw"));
        assertThat(table.at(Path.of("/a b\\cä"))).isPresent();
    }
}
