package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.mount.fuse.FileAccess;
import java.io.IOException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which users have access to a mount that root has made. Needs root, because commands run as other users. */
@Tag("mount")
@Tag("every-binding")
@Timeout(120)
final class AccessMountTest {
    private static final int OUTSIDER = 65534;
    private static final String AS_OUTSIDER = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
    private static final String AS_GROUP_MEMBER = "setpriv --reuid=65533 --regid=65534 --clear-groups ";
    private static final String READ = "head -c 1 \"$DIR/%s\" >/dev/null";
    private static final String WRITE = "dd if=/dev/zero of=\"$DIR/%s\" bs=4096 count=1 conv=notrunc status=none";

    @AutoClose
    private final MountFixture fixture = new MountFixture(8 << 20);

    private void launch(FileAccess access) throws IOException {
        fixture.mount = ModelMount.launch(fixture.context("direct").access(access));
    }

    private void assertRefused(String command) throws Exception {
        Shell.Result result = fixture.shell.run(command);
        assertThat(result.status()).as(command).isNotZero();
        assertThat(result.output()).contains("Permission denied");
    }

    @ParameterizedTest
    @ValueSource(strings = {"model", "weights"})
    void otherUserCannotReadOrWriteFilesByDefault(String file) throws Exception {
        fixture.launch("direct");
        assertRefused(AS_OUTSIDER + READ.formatted(file));
        assertRefused(AS_OUTSIDER + WRITE.formatted(file));
        fixture.shell.succeed(READ.formatted(file) + " && " + WRITE.formatted(file));
    }

    @Test
    void otherUserCannotReadTheStatusByDefault() throws Exception {
        fixture.launch("direct");
        assertRefused(AS_OUTSIDER + "cat \"$DIR/status.json\"");
        assertRefused(AS_OUTSIDER + "ls \"$DIR\"");
    }

    @Test
    void otherUserHasNoAccessWithoutAllowOther() throws Exception {
        launch(new FileAccess(0, 0, 0666, false));
        assertRefused(AS_OUTSIDER + READ.formatted("model"));
    }

    @Test
    void otherUserHasNoAccessWithoutModeBitsForOthers() throws Exception {
        launch(new FileAccess(0, 0, FileAccess.DEFAULT_MODE, true));
        assertRefused(AS_OUTSIDER + READ.formatted("model"));
        assertRefused(AS_OUTSIDER + WRITE.formatted("weights"));
    }

    @Test
    void modeLimitsOtherUsersWhenAllowOtherIsSet() throws Exception {
        launch(new FileAccess(0, 0, 0664, true));
        fixture.shell.succeed(AS_OUTSIDER + READ.formatted("model"));
        assertRefused(AS_OUTSIDER + WRITE.formatted("model"));
    }

    @Test
    void otherUserCanWriteWithAllowOtherAndWriteBits() throws Exception {
        launch(new FileAccess(0, 0, 0666, true));
        fixture.shell.succeed(AS_OUTSIDER + WRITE.formatted("model"));
        assertThat(fixture.shell.succeed(AS_OUTSIDER + "cat \"$DIR/status.json\""))
            .contains("\"access\" : \"uid=0,gid=0,mode=0666,allowOther=true\"");
    }

    @Test
    void onlyTheConfiguredOwnerCanReadAndWriteTheModel() throws Exception {
        launch(new FileAccess(OUTSIDER, 0, FileAccess.DEFAULT_MODE, false));
        fixture.shell.succeed(AS_OUTSIDER + READ.formatted("model") + " && " + AS_OUTSIDER + WRITE.formatted("model"));
        assertRefused(AS_GROUP_MEMBER + READ.formatted("model"));
        assertThat(fixture.shell.succeed("stat -c '%u %A' \"$DIR/model\" \"$DIR\"").lines())
            .containsExactly("65534 -rw-------", "65534 dr-x------");
    }

    @Test
    void eachUnsupportedOperationFailsWithItsErrnoForAnOwnerWhoIsNotRoot() throws Exception {
        fixture.mount = ModelMount.launch(
            fixture.context("sync").access(new FileAccess(OUTSIDER, 0, FileAccess.DEFAULT_MODE, false)));
        fixture.shell
            .succeed(AS_OUTSIDER + "/usr/bin/python3 - \"$DIR\" <'" + MountFixture.resource("file_errors.py") + "'");
    }

    @Test
    void modeLimitsTheAccessOfTheConfiguredGroup() throws Exception {
        launch(new FileAccess(0, OUTSIDER, 0640, false));
        fixture.shell.succeed(AS_GROUP_MEMBER + READ.formatted("model"));
        assertRefused(AS_GROUP_MEMBER + WRITE.formatted("model"));
    }

    @Test
    void ownerAndModeOfAFileCannotBeChanged() throws Exception {
        fixture.launch("direct");
        assertThat(fixture.shell.run("chmod 666 \"$DIR/model\"").output()).contains("Operation not permitted");
        assertThat(fixture.shell.run("chown 65534 \"$DIR/model\"").output()).contains("Operation not permitted");
    }
}
