package io.modeldisk.protocol.engine;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of logins that replace a session which does not end in time. */
@Timeout(60)
class SessionTableTest {
    private static final String ESTABLISHED = "established iqn.test:raw";
    private static final String LOST = "lost iqn.test:raw";

    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private Serving serving;

    @BeforeEach
    void openASessionThatDoesNotEnd() throws IOException {
        serving = new Serving(context -> context.endTimeout = Duration.ofSeconds(1));
        serving.target.losing = this::awaitPermission;
        serving.login();
    }

    @AfterEach
    void end() {
        mayEnd.countDown();
        serving.awaitNothingLeft();
        serving.close();
    }

    private void awaitPermission() {
        try {
            assertThat(mayEnd.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void assertLoginFails() {
        assertThatThrownBy(() -> serving.login()).isInstanceOf(IOException.class);
    }

    private void assertLoginSucceedsAfterTheEnd() throws IOException {
        mayEnd.countDown();
        await("the target is notified that the old session has ended", () -> serving.target.nexusEvents.contains(LOST));
        serving.login().close();
        assertThat(serving.target.nexusEvents).startsWith(ESTABLISHED, LOST, ESTABLISHED);
    }

    @Test
    void loginFailsUntilTheOldSessionHasEnded() throws IOException {
        assertLoginFails();
        assertLoginFails();
        assertThat(serving.target.nexusEvents).containsExactly(ESTABLISHED);
        assertLoginSucceedsAfterTheEnd();
    }

    @Test
    void loginThatReplacesAWaitingLoginAlsoWaitsForTheOldSession() throws Exception {
        CompletableFuture<Void> other = CompletableFuture.runAsync(this::assertLoginFails);
        assertLoginFails();
        other.get(10, TimeUnit.SECONDS);
        assertThat(serving.target.nexusEvents).containsExactly(ESTABLISHED);
        assertLoginSucceedsAfterTheEnd();
    }
}
