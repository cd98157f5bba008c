package io.modeldisk.command.process;

import io.modeldisk.platform.linux.ServiceManager;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.time.PeriodicThread;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Optional;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Notifies the service manager, such as systemd, when this process is ready, what it does, and that it makes progress. Without a
 * service manager, this class only prints the ready line. Thread-safe.
 */
public final class ServiceNotices implements AutoCloseable {
    /**
     * The environment variable that deploy/modeldisk sets for a mount in the background. The script prints the lines of this
     * process, and exits when this process has detached from the terminal. Until then, this process writes its errors to the
     * terminal.
     */
    public static final String IN_BACKGROUND = "MODELDISK_IN_BACKGROUND";

    private static final Logger LOG = LogManager.getLogger(ServiceNotices.class);
    private static final Duration STATUS_PERIOD = Duration.ofSeconds(5);

    /** The work of this process that the service manager watches. */
    @FunctionalInterface
    public interface Work {
        /**
         * Checks that the work makes progress. The call is allowed to block while there is no progress.
         *
         * @return a few words about the progress
         * @throws IOException if there is no progress; after some time, the service manager then restarts this process
         */
        String check() throws IOException;
    }

    /**
     * Work, with the ready line that was printed for it.
     *
     * @param line the ready line
     * @param work the work; null if this process only waits, for example for another process
     */
    private record Announced(String line, Work work) {}

    private final Optional<ServiceManager> manager;
    private final PeriodicThread thread;
    private volatile Announced announced;
    /** True if the last check has failed. Used only by {@link #thread}. */
    private boolean failing;

    /** Creates an object that notifies a service manager, if there is one. The first message is sent by {@link #ready}. */
    public ServiceNotices(Optional<ServiceManager> manager) {
        this.manager = manager;
        Duration half = manager.map(ServiceManager::watchdog).orElse(Duration.ZERO).dividedBy(2);
        Duration period = half.isZero() || half.compareTo(STATUS_PERIOD) > 0 ? STATUS_PERIOD : half;
        this.thread = new PeriodicThread(ThreadName.NOTICES.builder(), NanoClock.SYSTEM, period, this::tell);
        if (manager.isPresent()) {
            thread.start();
        }
    }

    /** Creates an object that notifies the service manager of this process, if there is one. */
    public static ServiceNotices ofThisProcess() {
        return new ServiceNotices(ServiceManager.ofThisProcess());
    }

    /**
     * Prints the line, and notifies the service manager that this process is ready.
     *
     * @param line for example {@code ready: ...} or {@code standby: ...}
     * @param work the work that the service manager watches from now on; null for none
     */
    public void ready(String line, Work work) {
        ready(line, work, System.out);
    }

    /** Prints the line to another output than the standard output; see {@link #ready(String, Work)}. */
    public void ready(String line, Work work, PrintStream output) {
        output.println(line);
        String status = line.replaceFirst("^ready: ", "");
        send("READY=1", "MAINPID=" + ProcessHandle.current().pid(), "STATUS=" + status);
        announced = new Announced(status, work);
    }

    /** Replaces the work that the service manager watches; null for no work. The ready line stays the same. */
    public void work(Work work) {
        Announced before = announced;
        if (before != null) {
            announced = new Announced(before.line(), work);
        }
    }

    /** Notifies the service manager that this process stops. */
    public void stopping() {
        announced = null;
        send("STOPPING=1", "STATUS=stops");
    }

    private void tell() {
        Announced now = announced;
        if (now == null) {
            return;
        }
        try {
            String progress = now.work() == null ? "" : "; " + now.work().check();
            failing = false;
            if (announced == now) {
                send("WATCHDOG=1", "STATUS=" + now.line() + progress);
            }
        } catch (IOException | RuntimeException e) {
            // If another thread has replaced the work during the check, the failure of the check does not concern the new work.
            if (announced != now) {
                return;
            }
            if (!failing) {
                failing = true;
                LOG.error("this process makes no progress: {}", e.toString());
            }
            send("STATUS=" + now.line() + "; no progress: " + e.getMessage());
        }
    }

    private void send(String... assignments) {
        if (manager.isEmpty()) {
            return;
        }
        try {
            manager.get().tell(assignments);
        } catch (IOException e) {
            LOG.warn("cannot send '{}' to the service manager: {}", assignments[0], e.getMessage());
        }
    }

    @Override
    public void close() {
        thread.close();
    }
}
