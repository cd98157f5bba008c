package io.modeldisk.mount;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs random operations on the files of a mount, and compares each result with a copy of the file in memory. The system property
 * {@code mount.operations} is the number of operations on each file.
 */
@Tag("mount")
@Tag("every-binding")
@Timeout(7300)
final class RandomOperationsMountTest {
    private static final int OPERATIONS = Integer.getInteger("mount.operations", 10_000);
    private static final int BOUND_S = 60 + OPERATIONS / 150;
    private static final int SIZE = (1 << 20) + 20;

    @AutoClose
    private MountFixture fixture;

    @ParameterizedTest
    @ValueSource(strings = {"weights", "model"})
    void resultsOfRandomOperationsEqualThoseOnACopyInMemory(String file) throws Exception {
        fixture = new MountFixture(SIZE).launch("sync");
        boolean maps = MountFixture.mapsFiles();
        fixture.shell.succeed("python3 '" + MountFixture.resource("random_operations.py") + "' \"$DIR/" + file + "\" "
            + file + " 1 " + OPERATIONS + " " + (maps ? "yes" : "no"), BOUND_S);
    }
}
