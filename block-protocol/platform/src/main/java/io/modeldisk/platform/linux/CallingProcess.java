package io.modeldisk.platform.linux;

import io.modeldisk.platform.text.PeerText;
import java.nio.file.Path;

/**
 * The process that has called the file system. The kernel reports only the calling thread.
 *
 * @param id the number of the process; 0 if this process cannot see it, because it runs in another PID namespace, has exited, or
 *     belongs to another user and /proc is mounted with hidepid
 * @param start the time at which the process was started, in clock ticks after the boot of the machine. The kernel can give the
 *     number of a process to a later one, but not with the same start
 * @param name the name of the program, or an empty string; all its characters are printable
 */
public record CallingProcess(long id, long start, String name) {
    /** A process that this process cannot see. */
    public static final CallingProcess UNKNOWN = new CallingProcess(0, 0, "");

    private static final Path PROCESSES = Path.of("/proc");
    /** Bounds the search: while it reads the chain of parents, a process can get another parent. */
    private static final int MAX_GENERATIONS = 100;

    /** The facts of a process in its file {@code stat} (proc(5)). */
    private record Facts(String state, long parent, long group, long session, long threads, long start) {
        /** Returns the facts of a process; null if this process cannot see it. */
        static Facts of(long id) {
            String line = String.join(" ", TextFile.lines(PROCESSES.resolve(id + "/stat")));
            // The name of the program, in parentheses, can contain any character. The state follows it.
            String[] words = line.substring(line.lastIndexOf(')') + 1).strip().split(" ");
            return words.length < 20
                ? null
                : new Facts(words[0], Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]),
                    Long.parseLong(words[17]), Long.parseLong(words[19]));
        }

        /**
         * Returns whether the process has exited and only waits for its parent (a zombie). If the first thread of a process ends
         * before the others, the process has the same state, but more threads.
         */
        boolean hasExited() {
            return (state.equals("Z") || state.equals("X")) && threads <= 1;
        }
    }

    /** Returns the process of a thread. {@code threadId} is 0 if the kernel cannot name the thread. */
    public static CallingProcess ofThread(long threadId) {
        // These files of /proc can be read at any time, also while a thread of the process is in open(2) or exec(2).
        long id = TextFile.number(PROCESSES.resolve(threadId + "/status"), "Tgid:");
        Facts facts = id == TextFile.NO_NUMBER ? null : Facts.of(id);
        return facts == null
            ? UNKNOWN
            : new CallingProcess(id, facts.start,
                PeerText.printable(String.join(" ", TextFile.lines(PROCESSES.resolve(id + "/comm")))));
    }

    /** Returns the process with this number and start, which may have exited; {@link #UNKNOWN} if one of the two is 0. */
    public static CallingProcess of(long id, long start) {
        if (id == 0 || start == 0) {
            return UNKNOWN;
        }
        CallingProcess now = ofThread(id);
        return now.start == start ? now : new CallingProcess(id, start, "");
    }

    /** Returns whether this process can see the process. */
    public boolean isKnown() {
        return id != 0;
    }

    /** Returns whether the process has exited. Its children can still hold its open files. */
    public boolean hasExited() {
        if (!isKnown()) {
            return false;
        }
        Facts facts = Facts.of(id);
        return facts == null || facts.start != start || facts.hasExited();
    }

    /**
     * Returns whether this is the same process as another, or one of its children, their children, and so on. If a process
     * between the two has exited, this process is a descendant only if the other one leads its process group or its session. Two
     * background processes of a shell are no descendants of each other: with job control, each leads a group of its own, and
     * without, as in a script, none of them leads a group.
     */
    public boolean isOrDescendsFrom(CallingProcess other) {
        if (!isKnown() || !other.isKnown()) {
            return false;
        }
        // If the other process has exited and its number belongs to a later process, that process is the leader.
        Facts namesake = Facts.of(other.id);
        boolean canLead = namesake == null || namesake.start == other.start;
        long ancestor = id;
        for (int i = 0; i < MAX_GENERATIONS && ancestor > 0; i++) {
            Facts facts = Facts.of(ancestor);
            if (facts == null) {
                return false;
            }
            if (ancestor == other.id && facts.start == other.start
                || canLead && (facts.group == other.id || facts.session == other.id)) {
                return true;
            }
            ancestor = facts.parent;
        }
        return false;
    }

    /** Returns the ID and the program of the process, such as {@code process 4711 (python3)}. */
    @Override
    public String toString() {
        return isKnown() ? "process " + id + (name.isEmpty() ? "" : " (" + name + ")") : "an unknown process";
    }
}
