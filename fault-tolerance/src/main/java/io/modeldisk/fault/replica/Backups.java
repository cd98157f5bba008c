package io.modeldisk.fault.replica;

import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.record.RecordSink;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.IserProvider;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The backups of a primary. Connects to each backup, sends it the blocks that it lacks and then all records, and informs the
 * coordinator which backups are in sync. Thread-safe.
 */
public final class Backups implements AutoCloseable {
    private final BackupSource source;
    private final BackupSettings settings;
    private final BackupMembers members;
    private final String own;
    private final long epoch;
    private final NanoClock clock;
    private final IserProvider.Connections iserConnections = IserProvider.find().connections();
    private final BackupSink sink;
    private final ScopedLock lock = new ScopedLock();
    // Guarded by lock.
    private final Map<String, BackupConnection> connections = new HashMap<>();
    private RecordLog log;
    private boolean closed;

    /**
     * Creates the backups of a primary, without a connection.
     *
     * @param own the name of this process
     * @param epoch the epoch of this process as the primary
     */
    public Backups(BackupSource source, BackupSettings settings, BackupMembers members, String own, long epoch,
        NanoClock clock) {
        this.source = source;
        this.settings = settings;
        this.members = members;
        this.own = own;
        this.epoch = epoch;
        this.clock = clock;
        this.sink = new BackupSink(new Losses(), clock);
    }

    /** Returns the sink that sends the records of a log to the backups. The caller must add this sink to the log. */
    public RecordSink recordSink() {
        return sink;
    }

    /** Sets the log whose records the backups get. Called before {@link #set}. */
    public void follow(RecordLog records) {
        try (ScopedLock.Held _ = lock.hold()) {
            log = records;
        }
    }

    /**
     * Sets the processes that are backups now. Connects to new backups. A connection with a process that is no longer a backup
     * ends with its stream. A later process at the same address is another backup.
     */
    public void set(Collection<Backup> peers) {
        try (ScopedLock.Held _ = lock.hold()) {
            connections.values().removeIf(known -> !known.list(peers.contains(known.peer())));
            for (Backup peer : peers) {
                BackupConnection known = connections.get(peer.name());
                if (!closed && known == null) {
                    BackupConnection connection = new BackupConnection(this, peer);
                    connections.put(peer.name(), connection);
                    connection.start();
                }
            }
        }
    }

    /** The progress of each backup. */
    public List<BackupStatus> status() {
        return all().stream().map(BackupConnection::status).toList();
    }

    private List<BackupConnection> all() {
        try (ScopedLock.Held _ = lock.hold()) {
            return List.copyOf(connections.values());
        }
    }

    private final class Losses implements BackupSink.Losses {
        @Override
        public void begins() throws IOException {
            members.removeEarlier();
        }

        @Override
        public void lost(BackupStream stream, IOException reason) throws IOException {
            for (BackupConnection connection : all()) {
                connection.lost(stream, reason);
            }
            // An attempt to add this backup might have failed without an answer. The connection of the backup might already use
            // another stream, or be gone, so this call does not depend on the connection.
            members.removeUnconfirmed();
        }
    }

    /** Makes a backup catch up again, because it might have discarded its blocks. */
    public void catchUpAgain(String backup, String reason) throws IOException {
        for (BackupConnection connection : all()) {
            if (connection.peer().name().equals(backup)) {
                connection.restart(reason);
            }
        }
    }

    BackupStream open(Backup peer) throws IOException {
        return settings.open(own, peer, epoch, source.facts(), iserConnections, clock);
    }

    BackupSource source() {
        return source;
    }

    BackupSink sink() {
        return sink;
    }

    BackupMembers members() {
        return members;
    }

    /** Forgets a connection whose thread has ended. */
    void forget(BackupConnection connection) {
        try (ScopedLock.Held _ = lock.hold()) {
            connections.remove(connection.peer().name(), connection);
        }
    }

    RecordLog log() {
        try (ScopedLock.Held _ = lock.hold()) {
            return log;
        }
    }

    NanoClock clock() {
        return clock;
    }

    int bufferBytes() {
        return settings.bufferBytes();
    }

    /** Stops the threads. Backups in sync get records until the log is closed, which closes the sink. */
    @Override
    public void close() {
        try (ScopedLock.Held _ = lock.hold()) {
            closed = true;
        }
        sink.end();
        all().forEach(BackupConnection::close);
    }
}
