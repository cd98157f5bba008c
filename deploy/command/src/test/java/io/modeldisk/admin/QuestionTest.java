package io.modeldisk.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class QuestionTest {
    @Test
    void queryIsRepeatedAfterAnError() throws IOException {
        AtomicInteger asked = new AtomicInteger();
        Question<Integer> question = new Question<>("nobody answered", () -> {
            if (asked.incrementAndGet() == 1) {
                throw new AssertionError("for the test");
            }
            return asked.get();
        });

        assertThatThrownBy(question::answer).isInstanceOf(IOException.class).hasMessage("for the test");
        assertThat(question.answer()).isEqualTo(2);
    }

    @Test
    void unansweredQueryFailsAfterTheTimeLimitAndIsNotRepeated() {
        CountDownLatch end = new CountDownLatch(1);
        AtomicInteger asked = new AtomicInteger();
        Question<Integer> question = new Question<>("nobody answered", () -> {
            asked.incrementAndGet();
            end.await();
            return 1;
        });
        try {
            assertThatThrownBy(question::answer).isInstanceOf(IOException.class)
                .hasMessage("nobody answered within 3 s");
            assertThatThrownBy(question::answer).isInstanceOf(IOException.class);
            assertThat(asked).hasValue(1);
        } finally {
            end.countDown();
        }
    }
}
