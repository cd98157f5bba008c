package io.modeldisk.test;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** Records the warnings of all loggers until it is closed. Thread-safe. */
public final class WarningLog implements AutoCloseable {
    private final List<String> messages = new CopyOnWriteArrayList<>();
    private final AbstractAppender appender = new AbstractAppender("warning-log", null, null, true,
        Property.EMPTY_ARRAY) {
        @Override
        public void append(LogEvent event) {
            if (event.getLevel() == Level.WARN) {
                messages.add(event.getMessage().getFormattedMessage());
            }
        }
    };

    /** Starts to record. */
    public WarningLog() {
        appender.start();
        ((Logger) LogManager.getRootLogger()).addAppender(appender);
    }

    /** The warnings so far. */
    public List<String> messages() {
        return List.copyOf(messages);
    }

    @Override
    public void close() {
        ((Logger) LogManager.getRootLogger()).removeAppender(appender);
        appender.stop();
    }
}
