package io.modeldisk.command.process;

import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.linux.Processes;
import java.util.Locale;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.ConsoleAppender;
import org.apache.logging.log4j.core.config.AbstractConfiguration;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.config.ConfigurationSource;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.status.StatusConfiguration;
import org.apache.logging.log4j.core.layout.PatternLayout;

/**
 * The configuration of the log, which goes to the standard error output. The configuration is code and not a file, because Log4j
 * needs more time to find and parse a file than the rest of a command needs to start.
 */
public final class LogConfiguration extends AbstractConfiguration {
    /** The environment variable that sets the level of the log. */
    public static final String LEVEL = "MODELDISK_LOG_LEVEL";
    /** The environment variable that sets the level of the log lines of ZooKeeper and Curator. */
    public static final String ZOOKEEPER_LEVEL = "MODELDISK_ZOOKEEPER_LOG_LEVEL";

    private static final String PATTERN = "%d{HH:mm:ss.SSS} %-5level %msg%notEmpty{: %throwable{short.message}}%n";

    private final Level level;
    private final Level zookeeper;
    private final Level curator;

    private LogConfiguration() {
        super(null, ConfigurationSource.NULL_SOURCE);
        // Log4j's own shutdown hook can run before those of the commands have finished, and the last lines would be lost.
        // Nothing needs to be flushed at the end, because each line is written at once.
        isShutdownHookEnabled = false;
        level = level(LEVEL, Level.WARN);
        zookeeper = level(ZOOKEEPER_LEVEL, Level.ERROR);
        curator = level(ZOOKEEPER_LEVEL, Level.OFF);
    }

    /**
     * Starts the log.
     *
     * @throws IllegalArgumentException if a level in the environment is unknown; the message names the variable and its value
     */
    public static void install() {
        LogConfiguration configuration = new LogConfiguration();
        // If Log4j reported its own errors, it would print a stack trace on a machine that has no name in the DNS.
        new StatusConfiguration().withStatus(Level.FATAL).initialize();
        LoggerContext context = Configurator.initialize(configuration);
        if (context.getConfiguration() != configuration) {
            // A class created a logger before this call, so Log4j has started with its own configuration.
            context.reconfigure(configuration);
        }
    }

    private static Level level(String variable, Level otherwise) {
        String name = Processes.environment(variable);
        Level level = name == null ? otherwise : Level.getLevel(name.toUpperCase(Locale.ROOT));
        Arguments.require(level != null,
            variable + "='" + name + "' is unknown; it must be error, warn, info, debug or off");
        return level;
    }

    /** Returns the layout of a line. The line contains the message of an exception, but not its stack trace. */
    static PatternLayout layout(Configuration configuration) {
        return PatternLayout.newBuilder().setPattern(PATTERN).setAlwaysWriteExceptions(false)
            .setConfiguration(configuration).build();
    }

    @Override
    protected void doConfigure() {
        setName("modeldisk");
        PatternLayout layout = layout(this);
        ConsoleAppender errors = ConsoleAppender.newBuilder().setName("stderr")
            .setTarget(ConsoleAppender.Target.SYSTEM_ERR).setLayout(layout).setConfiguration(this).build();
        addAppender(errors);
        getRootLogger().addAppender(errors, null, null);
        getRootLogger().setLevel(level);
        // At level info, DiSNI logs every object that it creates.
        limit("com.ibm.disni", Level.WARN);
        // The log lines of modeldisk contain what a user needs to know about ZooKeeper. With level off, Curator does not log a
        // stack trace for each attempt to connect.
        limit("org.apache.zookeeper", zookeeper);
        limit("org.apache.curator", curator);
        // StaticHostProvider logs an unknown host at each attempt to connect. CoordinatorClient logs it once.
        limit("org.apache.zookeeper.client.StaticHostProvider", curator);
    }

    private void limit(String logger, Level highest) {
        addLogger(logger, new LoggerConfig(logger, highest, true));
    }
}
