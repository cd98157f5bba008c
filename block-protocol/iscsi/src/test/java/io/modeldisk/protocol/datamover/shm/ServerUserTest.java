package io.modeldisk.protocol.datamover.shm;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.platform.linux.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which users' servers may read the memory of an initiator. */
class ServerUserTest {
    private static final int ROOT = 0;
    /** The user and the group {@code daemon} of every Debian system stand for those of the package. */
    private static final int SERVICE = 1;
    private static final int MEMBER = 4711;

    @TempDir
    private Path directory;
    private Path socket;

    @BeforeEach
    void createSocket() throws IOException {
        socket = Files.createFile(directory.resolve("m-3260.sock"));
    }

    private void owners(int ofDirectory, int ofSocket) throws IOException {
        assumeTrue(Processes.effectiveUserId() == ROOT, "only root can give files to other users");
        Files.setAttribute(directory, "unix:gid", SERVICE);
        Files.setAttribute(directory, "unix:uid", ofDirectory);
        Files.setAttribute(socket, "unix:uid", ofSocket);
    }

    private void assertAccepted(int user, int server) {
        assertThatCode(() -> ShmInitiatorPortal.checkUser(socket, user, server)).doesNotThrowAnyException();
    }

    @Test
    void rootAcceptsServersOfRootOfTheDirectorysOwnerAndOfTheServiceUserOnly() throws IOException {
        owners(ROOT, ROOT);
        assertAccepted(ROOT, ROOT);
        owners(ROOT, SERVICE);
        assertAccepted(ROOT, SERVICE);
        owners(MEMBER, MEMBER);
        assertAccepted(ROOT, MEMBER);
        owners(ROOT, MEMBER);
        assertThatThrownBy(() -> ShmInitiatorPortal.checkUser(socket, ROOT, MEMBER)).isInstanceOf(IOException.class)
            .hasMessageContaining(
                "root shares memory only with root, the owner of the socket's directory, and user daemon");
    }

    @Test
    void otherUsersAcceptServersOfTheirOwnAndOfRootOnly() throws IOException {
        owners(MEMBER, ROOT);
        assertAccepted(MEMBER, ROOT);
        owners(ROOT, MEMBER);
        assertAccepted(MEMBER, MEMBER);
        owners(ROOT, SERVICE);
        assertThatThrownBy(() -> ShmInitiatorPortal.checkUser(socket, MEMBER, SERVICE)).isInstanceOf(IOException.class)
            .hasMessageContaining("runs as user 1, but this process runs as user 4711");
    }

    @Test
    void serverThatDoesNotOwnItsSocketIsRefused() {
        int user = Processes.effectiveUserId();
        assertThatThrownBy(() -> ShmInitiatorPortal.checkUser(socket, user, user + 1)).isInstanceOf(IOException.class)
            .hasMessageContaining("but the socket belongs to user " + user);
    }
}
