package io.modeldisk.mount;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests mounts and unmounts. */
@Tag("mount")
@Tag("every-binding")
@Timeout(120)
final class LifecycleMountTest {
    private static final Duration BOUND = Duration.ofSeconds(60);

    @AutoClose
    private final MountFixture fixture = new MountFixture(8 << 20);

    @Test
    void directoryCanBeMountedAgainAfterTheMountWasClosed() throws Exception {
        for (int i = 0; i < 5; i++) {
            fixture.launch(i % 2 == 0 ? "sync" : "direct");
            fixture.shell.succeed("cat \"$DIR/model\" >/dev/null");
            fixture.mount.close();
            fixture.mount.close();
            assertThat(fixture.isMounted()).isFalse();
            assertThat(Files.list(fixture.dir)).isEmpty();
        }
    }

    @Test
    void closeUnmountsWhileAReadWaits() throws Exception {
        fixture.launch("direct");
        fixture.model.pullsWait(true);
        Process learner = fixture.shell.start("exec 5<>\"$DIR/model\"; exec dd bs=4096 count=1 <&5 of=/dev/null");
        await("a read waits", () -> fixture.model.waiting.get() > 0);
        fixture.mount.close();
        assertThat(fixture.isMounted()).isFalse();
        assertThat(fixture.mount.unmounted()).isDone();
        assertThat(Shell.end(learner).status()).isNotZero();
        assertThat(fixture.model.calls).containsExactly("join", "leave");
    }

    @Test
    void unmountByAnotherProcessClosesTheSession() throws Exception {
        for (String command : new String[]{"umount", "fusermount3 -u"}) {
            fixture.launch("sync");
            fixture.shell.succeed(": >> \"$DIR/model\"");
            fixture.shell.succeed(command + " \"$DIR\"");
            assertThat(fixture.mount.unmounted()).as(command).succeedsWithin(BOUND);
            assertThat(fixture.model.calls).endsWith("leave");
            fixture.mount.close();
        }
    }

    @Test
    void unmountReturnsAfterTheMountIsRemoved() throws Exception {
        fixture.launch("sync");
        assertThat(fixture.mount.unmounted()).isNotDone();
        ModelMount.unmount(fixture.dir);
        assertThat(fixture.isMounted()).isFalse();
        assertThat(fixture.mount.unmounted()).succeedsWithin(BOUND);
    }

    @Test
    void unmountRemovesOnlyTheUpperOfTwoMountsOnOneDirectory() throws Exception {
        fixture.launch("sync");
        Path other = Files.createDirectory(fixture.base.resolve("other"));
        try (ModelMount upper = ModelMount.launch(fixture.context("direct").directory(other))) {
            fixture.shell.succeed("mount --bind \"$DIR/../other\" \"$DIR\" && umount \"$DIR/../other\"");
            ModelMount.unmount(fixture.dir);
            assertThat(upper.unmounted()).succeedsWithin(BOUND);
            assertThat(fixture.mount.unmounted()).isNotDone();
            assertThat(fixture.isMounted()).isTrue();
        }
    }

    @Test
    void pathThatIsALoopOfSymbolicLinksIsRefused() throws Exception {
        Path link = Files.createSymbolicLink(fixture.base.resolve("loop"), Path.of("loop"));
        assertThatThrownBy(() -> ModelMount.unmount(link)).hasMessageContaining("in a loop of symbolic links");
    }

    @Test
    void messageOfAFailedUnmountContainsTheReason() throws Exception {
        assertThatThrownBy(() -> ModelMount.unmount(fixture.dir)).hasMessage(fixture.dir + " is not mounted");
        assertThatThrownBy(() -> ModelMount.unmount(Path.of("/proc"))).hasMessageContaining("its type is proc");
        fixture.launch("sync");
        Process user = fixture.shell.start("exec 5<\"$DIR/model\"; echo x; read");
        assertThat(user.getInputStream().read()).isEqualTo('x');
        assertThatThrownBy(() -> ModelMount.unmount(fixture.dir)).hasMessageContaining("is in use");
        user.destroyForcibly();
    }

    @Test
    void messageOfAFailedMountContainsTheReason() throws Exception {
        Path file = Files.createFile(fixture.base.resolve("file"));
        assertThatThrownBy(() -> ModelMount.launch(fixture.context("sync").directory(fixture.base.resolve("none"))))
            .isInstanceOf(IOException.class).hasMessageContaining("does not exist");
        assertThatThrownBy(() -> ModelMount.launch(fixture.context("sync").directory(fixture.base.resolve("no/ne"))))
            .isInstanceOf(IOException.class).hasMessageContaining("does not exist");
        assertThatThrownBy(() -> ModelMount.launch(fixture.context("sync").directory(file)))
            .isInstanceOf(IOException.class).hasMessageContaining("is not a directory");
        assertThatThrownBy(() -> ModelMount.launch(fixture.context("sync").directory(Path.of("/proc"))))
            .isInstanceOf(IOException.class).hasMessageContaining("already a mount point of type proc");
        assertThatThrownBy(() -> ModelMount.launch(fixture.context("sync").source("")))
            .isInstanceOf(IllegalArgumentException.class).hasMessage("source= must not be empty");
    }

    @Test
    void firstMountContinuesAfterASecondMountWasRefused() throws Exception {
        fixture.launch("sync");
        assertThatThrownBy(() -> ModelMount.launch(fixture.context("sync"))).isInstanceOf(IOException.class)
            .hasMessageContaining("already a mount point of type fuse.modeldisk");
        fixture.shell.succeed("cat \"$DIR/model\" >/dev/null");
    }
}
