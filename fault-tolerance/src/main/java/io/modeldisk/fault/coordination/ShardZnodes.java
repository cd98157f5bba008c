package io.modeldisk.fault.coordination;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * Reads and writes the znodes of one shard. Each method works in one ZooKeeper session. If this session ends, the method fails,
 * and does not continue in another session. Not thread-safe.
 */
final class ShardZnodes {
    private static final int REGISTER_ATTEMPTS = 10;

    private final ShardRoleContext context;
    private final ModelPaths paths;
    private final List<ACL> rights;
    private final ModelRecord model;
    private final String id;

    /** The leader, and the version of its znode for the next write. */
    record Versioned(Leader leader, int version) {}

    ShardZnodes(ShardRoleContext context, String id) {
        this.context = context;
        this.paths = new ModelPaths(context.model());
        this.rights = CoordinatorSecret.rights(context.coordinator().secret());
        this.model = new ModelRecord(UUID.randomUUID().toString(), context.shards(), context.options());
        this.id = id;
    }

    String ownPath() {
        return paths.replica(context.shard(), id);
    }

    /**
     * Adds the ephemeral znode of this process, unless this session has done so already.
     *
     * @throws IllegalArgumentException if the model has other options than this process
     */
    void register(ZooKeeper session) throws KeeperException, InterruptedException, IOException {
        Stat own = session.exists(ownPath(), false);
        if (own != null && own.getEphemeralOwner() == session.getSessionId()) {
            return;
        }
        for (String path : List.of(ModelPaths.ROOT, paths.parent(), paths.shards(), paths.shard(context.shard()),
            paths.replicas(context.shard()))) {
            createIfAbsent(session, path, new byte[0]);
        }
        for (int attempt = 1;; attempt++) {
            try {
                addOwn(session, own, agree(session));
                return;
            } catch (KeeperException.BadVersionException e) {
                // Another process has changed the options of the model at the same time.
                if (attempt == REGISTER_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    /** Replaces the znode of this process in an old session, if there is one, by a znode in this session. */
    private void addOwn(ZooKeeper session, Stat old, int modelVersion) throws KeeperException, InterruptedException {
        List<Op> changes = new ArrayList<>();
        if (old != null) {
            changes.add(Op.delete(ownPath(), old.getVersion()));
        }
        changes.add(Op.check(paths.model(), modelVersion));
        changes.add(Op.create(ownPath(), Records.write(new Replica(context.address(), context.host())), rights,
            CreateMode.EPHEMERAL));
        session.multi(changes);
    }

    private boolean createIfAbsent(ZooKeeper session, String path, byte[] data)
        throws KeeperException, InterruptedException {
        if (session.exists(path, false) != null) {
            return false;
        }
        try {
            session.create(path, data, rights, CreateMode.PERSISTENT);
            return true;
        } catch (KeeperException.NodeExistsException e) {
            return false;
        }
    }

    /** Checks that the model has the options of this process. Returns the version of the model's znode. */
    private int agree(ZooKeeper session) throws KeeperException, InterruptedException, IOException {
        createIfAbsent(session, paths.model(), Records.write(model));
        Stat stat = new Stat();
        byte[] data = session.getData(paths.model(), false, stat);
        ModelRecord known = Records.read(paths.model(), data, ModelRecord.class);
        if (known.isSameModel(model)) {
            return stat.getVersion();
        }
        if (isInUse(session)) {
            // Not an IllegalArgumentException (exit status 2): the other processes can be restarted with these options.
            throw new IOException("the processes of model " + context.model() + " at the coordinator "
                + context.coordinator().serversText() + " have other options: " + known.difference(model)
                + "; give the same options, or another --model if this is another model");
        }
        return session.setData(paths.model(), Records.write(model), stat.getVersion()).getVersion();
    }

    private boolean isInUse(ZooKeeper session) throws KeeperException, InterruptedException {
        for (String shard : session.getChildren(paths.shards(), false)) {
            String replicas = paths.shards() + "/" + shard + "/replicas";
            if (session.exists(replicas, false) != null && !session.getChildren(replicas, false).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /** Returns the leader; null if the shard has never had a primary. */
    Versioned leader(ZooKeeper session) throws KeeperException, InterruptedException, IOException {
        String path = paths.leader(context.shard());
        Stat stat = new Stat();
        try {
            byte[] data = session.getData(path, false, stat);
            return new Versioned(Records.read(path, data, Leader.class), stat.getVersion());
        } catch (KeeperException.NoNodeException e) {
            return null;
        }
    }

    /** Writes the first leader. Fails if there is one already. */
    void createLeader(ZooKeeper session, Leader first) throws KeeperException, InterruptedException {
        session.create(paths.leader(context.shard()), Records.write(first), rights, CreateMode.PERSISTENT);
    }

    /** Writes the leader. Fails if the znode has another version. */
    void writeLeader(ZooKeeper session, Leader next, int version) throws KeeperException, InterruptedException {
        session.setData(paths.leader(context.shard()), Records.write(next), version);
    }

    /** Returns the replicas that are alive, by id. */
    Map<String, Replica> replicas(ZooKeeper session) throws KeeperException, InterruptedException, IOException {
        Map<String, Replica> replicas = new HashMap<>();
        for (String each : alive(session)) {
            String path = paths.replica(context.shard(), each);
            try {
                replicas.put(each, Records.read(path, session.getData(path, false, null), Replica.class));
            } catch (KeeperException.NoNodeException e) {
                // The replica has just ended.
            }
        }
        return replicas;
    }

    /** Returns the ids of the replicas that are alive. */
    Set<String> alive(ZooKeeper session) throws KeeperException, InterruptedException {
        return new HashSet<>(session.getChildren(paths.replicas(context.shard()), false));
    }
}
