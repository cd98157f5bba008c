package io.modeldisk.protocol.engine;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of logins that replace a session which does not end in time. */
@Timeout(60)
class SessionTableTest {
    private static final String ESTABLISHED = "established iqn.test:raw";
    private static final String LOST = "lost iqn.test:raw";

    private final AtomicBoolean mayEnd = new AtomicBoolean();
    private Serving serving;

    @BeforeEach
    void openASessionThatDoesNotEnd() throws IOException {
        serving = new Serving(context -> context.endTimeout = Duration.ofSeconds(1));
        serving.target.losing = () -> await("the test lets the old session end", mayEnd::get);
        serving.login();
    }

    @AfterEach
    void end() {
        mayEnd.set(true);
        serving.awaitNothingLeft();
        serving.close();
    }

    private void assertLoginFails() {
        assertThatThrownBy(() -> serving.login()).isInstanceOf(IOException.class);
    }

    private void assertLoginSucceedsAfterTheEnd() throws IOException {
        mayEnd.set(true);
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
