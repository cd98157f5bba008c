package io.modeldisk.platform.linux;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The process behind a call of a file system. The kernel names the thread that calls, not its process.
 *
 * @param handle the process; null if this process cannot see it, because it runs in another PID namespace, has exited, or belongs
 *     to another user and /proc is mounted with hidepid
 * @param name the name of the program, or an empty text
 */
public record CallingProcess(ProcessHandle handle, String name) {
    /** A process that this process cannot see. */
    public static final CallingProcess UNKNOWN = new CallingProcess(null, "");

    private static final Path PROCESSES = Path.of("/proc");
    /** A chain of parents has an end, but a process can get another parent while the chain is read. */
    private static final int MAX_GENERATIONS = 100;

    /** Returns the process of a thread. {@code threadId} is 0 if the kernel cannot name the thread. */
    public static CallingProcess ofThread(long threadId) {
        // These files of /proc can be read at any time, also while a thread of the process is in open(2) or exec(2).
        long processId = TextFile.number(PROCESSES.resolve(threadId + "/status"), "Tgid:");
        return processId == TextFile.NO_NUMBER
            ? UNKNOWN
            : ProcessHandle.of(processId)
                .map(process -> new CallingProcess(process,
                    String.join(" ", TextFile.lines(PROCESSES.resolve(processId + "/comm")))))
                .orElse(UNKNOWN);
    }

    /** Returns whether this process can see the process. */
    public boolean isKnown() {
        return handle != null;
    }

    /** Returns whether the process has exited. Its children can still have its open files. */
    public boolean hasExited() {
        return isKnown() && !handle.isAlive();
    }

    /** Returns whether this is the same process as another, or one of its children, their children, and so on. */
    public boolean isOrDescendsFrom(CallingProcess other) {
        // Equal handles have the same start time, so a process that got the number of one that has exited is not taken for it.
        Optional<ProcessHandle> ancestor = Optional.ofNullable(handle);
        for (int i = 0; i < MAX_GENERATIONS && ancestor.isPresent(); i++) {
            if (ancestor.get().equals(other.handle)) {
                return true;
            }
            ancestor = ancestor.get().parent();
        }
        return false;
    }

    /** Returns the number and the program of the process, such as {@code process 4711 (python3)}. */
    @Override
    public String toString() {
        return isKnown() ? "process " + handle.pid() + " (" + name + ")" : "an unknown process";
    }
}
