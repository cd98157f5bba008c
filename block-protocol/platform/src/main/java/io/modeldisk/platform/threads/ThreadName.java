package io.modeldisk.platform.threads;

import java.util.concurrent.ThreadFactory;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The names of the threads of modeldisk. A name consists of {@code modeldisk-}, the role of the thread and, if a process can have
 * several threads in this role, a detail. An example is {@code modeldisk-lease-resnet-0}. Linux shows only the first 15 bytes of
 * the name of a platform thread, so the roles of platform threads differ in their first five letters. docs/architecture.md
 * describes each role.
 */
public enum ThreadName {
    /** Accepts connections. */
    ACCEPTOR(Kind.PLATFORM, "acceptor", "DATAMOVER"),
    /** Receives the commands of an initiator. */
    RECEIVER(Kind.PLATFORM, "receiver", "PEER"),
    /** Runs tasks that had to wait. */
    RESPONDER(Kind.PLATFORM, "responder", "PEER"),
    /** Watches the connections of the target. */
    CONNECTIONS(Kind.PLATFORM, "connections"),
    /** Accepts the connections of an RDMA portal. */
    RDMA_EVENTS(Kind.PLATFORM, "rdma-events", "PORTAL"),
    /** Makes records durable. */
    RECORDS(Kind.PLATFORM, "records", "MODEL-SHARD"),
    /** Ends the leases of silent learners. */
    LEASE(Kind.PLATFORM, "lease", "MODEL-SHARD"),
    /** Saves the checkpoints. */
    CHECKPOINT(Kind.PLATFORM, "checkpoint", "MODEL-SHARD"),
    /** Waits for the last checkpoint of a shard that stops. */
    LAST_CHECKPOINT(Kind.PLATFORM, "last-checkpoint", "MODEL-SHARD"),
    /** Connects to a backup. */
    BACKUP(Kind.PLATFORM, "backup", "ID"),
    /** Launches the kernels of a GPU and waits for their completion. */
    DEVICE(Kind.PLATFORM, "device", "NAME"),
    /** Reads and writes the znodes of a shard. */
    ROLE(Kind.PLATFORM, "role", "MODEL-SHARD"),
    /** Watches the lease of a primary. */
    FENCE(Kind.PLATFORM, "fence", "MODEL-SHARD"),
    /** Closes a ZooKeeper client after a failed start. */
    COORDINATOR_CLOSE(Kind.VIRTUAL, "coordinator-close"),
    /** Receives the responses of a session. */
    READER(Kind.PLATFORM, "reader", "PORTAL"),
    /** Sends the data of a session. */
    SENDER(Kind.PLATFORM, "sender", "PORTAL"),
    /** Closes a session whose target is silent. */
    SESSION_WATCHDOG(Kind.VIRTUAL, "session-watchdog", "PORTAL"),
    /** Closes the connection of a login that takes too long. */
    LOGIN_WATCHDOG(Kind.VIRTUAL, "login-watchdog", "PORTAL"),
    /** Answers a ping of the target. */
    PING_ANSWER(Kind.VIRTUAL, "ping-answer", "PORTAL"),
    /** Calls one shard, as a part of a call to all shards. */
    SHARD_CALL(Kind.VIRTUAL, "shard-call", "SHARD"),
    /** Closes the sessions with a process that no longer serves its shard. */
    SHARD_MOVED(Kind.VIRTUAL, "shard-moved", "SHARD"),
    /** Ends calls that wait for too long. */
    CALL_WATCHDOG(Kind.VIRTUAL, "call-watchdog"),
    /** Continues a call that must send a part again or must fail. */
    TRANSFER(Kind.VIRTUAL, "transfer"),
    /** Pushes and pulls in the background. */
    EXCHANGE(Kind.PLATFORM, "exchange", "N"),
    /** Waits for a new version of the model. */
    VERSION(Kind.VIRTUAL, "version"),
    /** Checks whether a process serves the directory of a mount. */
    MOUNT_CHECK(Kind.PLATFORM, "mount-check"),
    /** Serves requests of the kernel. */
    FUSE(Kind.PLATFORM, "fuse", "N"),
    /** Adds a FUSE thread while all FUSE threads wait. */
    RESERVE(Kind.PLATFORM, "reserve"),
    /** Serves a parked request. */
    PARKED(Kind.VIRTUAL, "parked"),
    /** Answers an interrupted request. */
    INTERRUPT(Kind.VIRTUAL, "interrupt"),
    /** Wakes the threads of a mount that ends. */
    WAKER(Kind.PLATFORM, "waker"),
    /** Runs the loop of libfuse. */
    JNR(Kind.PLATFORM, "jnr"),
    /** Serves an HTTP request. */
    ADMIN(Kind.VIRTUAL, "admin", "N"),
    /** Requests the status of the shards. */
    QUESTION(Kind.PLATFORM, "question"),
    /** Reads the status of a shard for the page. */
    PAGE(Kind.VIRTUAL, "page", "NAME"),
    /** Reports progress to the service manager. */
    NOTICES(Kind.PLATFORM, "notices"),
    /** Fills memory with zeros. */
    PAGES(Kind.PLATFORM, "pages"),
    /** Copies an output of a learner of {@code modeldisk run} to the terminal. */
    OUTPUT(Kind.PLATFORM, "output", "RANK"),
    /** Shows the progress of {@code modeldisk run}. */
    PROGRESS(Kind.PLATFORM, "progress"),
    /** Stops the process in an orderly way. */
    SHUTDOWN(Kind.PLATFORM, "shutdown"),
    /** Ends the process after a failure. */
    END(Kind.PLATFORM, "end");

    private enum Kind {
        PLATFORM, VIRTUAL
    }

    private final boolean virtual;
    private final String name;
    private final String detail;

    ThreadName(Kind kind, String role) {
        this(kind, role, null);
    }

    ThreadName(Kind kind, String role, String detail) {
        this.virtual = kind == Kind.VIRTUAL;
        this.name = "modeldisk-" + role;
        this.detail = detail;
    }

    /** Returns the name of a thread in this role. */
    public String of(Object... details) {
        return Stream.concat(Stream.of(name), Stream.of(details).map(String::valueOf)).collect(Collectors.joining("-"));
    }

    /** Returns a builder of a thread in this role: a virtual thread, or a daemon. */
    public Thread.Builder builder(Object... details) {
        return unnamed().name(of(details));
    }

    /** Returns a factory of threads in this role, numbered from 0. */
    public ThreadFactory numbered() {
        return unnamed().name(name + "-", 0).factory();
    }

    private Thread.Builder unnamed() {
        return virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
    }

    /** Returns the name with a placeholder for the detail, such as {@code modeldisk-fuse-N}. The documentation uses this form. */
    @Override
    public String toString() {
        return detail == null ? name : name + "-" + detail;
    }
}
