package io.modeldisk.test;

import java.util.concurrent.atomic.AtomicReference;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** Records the first logged error, so a test can fail. A logged error is a bug, even if the server continues. Thread-safe. */
public final class ErrorLog {
    private final AtomicReference<AssertionError> first = new AtomicReference<>();

    /** Starts recording the errors of all loggers, until the JVM exits. */
    public ErrorLog() {
        AbstractAppender appender = new AbstractAppender("error-log", null, null, true, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                if (event.getLevel().isMoreSpecificThan(Level.ERROR)) {
                    first.compareAndSet(null,
                        new AssertionError(event.getMessage().getFormattedMessage(), event.getThrown()));
                }
            }
        };
        appender.start();
        ((Logger) LogManager.getRootLogger()).addAppender(appender);
    }

    /** Throws an {@link AssertionError} if an error was logged since the last call of this method. */
    public void check() {
        AssertionError error = first.getAndSet(null);
        if (error != null) {
            throw error;
        }
    }
}
