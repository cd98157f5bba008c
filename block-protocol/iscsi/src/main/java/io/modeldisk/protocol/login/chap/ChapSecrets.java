package io.modeldisk.protocol.login.chap;

import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.SettingException;
import io.modeldisk.platform.files.OwnerFile;
import io.modeldisk.protocol.login.InitiatorPattern;
import io.modeldisk.protocol.login.Right;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The CHAP names and secrets of a shard or a mount: its own name and secret, and those of its peers. The names and secrets are
 * read from lines of text:
 *
 * <pre>
 * # a peer: name, secret, rights, and the initiators that may use the secret
 * peer  learner-7  aVeryLongSecretOfIts  may=learn  iqn.2026-11.io.modeldisk.learner:seven*
 * peer  operator   aSecretOfTheOperator  may=learn,raw
 * # the name and secret of this shard or mount itself
 * self  shards     anotherLongSecretThan
 * # the name and secret of the processes that may change the znodes of a coordinator
 * zookeeper shards aThirdLongSecretOfTheShards
 * # the name and secret with which the primary of a shard logs in to the backups
 * replica records aFourthLongSecretOfTheShards
 * # the name and secret with which a shard reads the status of the other shards
 * status  page    aFifthLongSecretOfTheShards
 * </pre>
 *
 * <p>A target needs a line {@code peer}, and for mutual CHAP also the line {@code self}. An initiator needs the line
 * {@code self}. If the initiator also has a line {@code peer}, the target must authenticate too. A peer without {@code may=} has
 * the rights {@link Right#DEFAULT}. A peer without patterns may log in under every initiator name that matches no pattern of
 * another peer. Only peers with the right {@link Right#REPLICATE} may use the initiator names of primaries. Every peer may use
 * the initiator names of `modeldisk status`, but has only the right {@link Right#STATUS} under a name that its patterns exclude.
 *
 * <p>All processes of a shard have the same line {@code replica}. A target treats this line as a peer with only the right
 * {@link Right#REPLICATE}. {@link #ofPrimary} returns the secrets with which a primary logs in. In the same way, all shards of a
 * model have the same line {@code status}, which a target treats as a peer with only the right {@link Right#STATUS}; see
 * {@link #ofObserver}.
 *
 * <p>The line {@code zookeeper} is not for CHAP; it is in the same file so that a shard has only one file to protect.
 *
 * <p>Words are separated by blanks. Secrets are UTF-8.
 * Immutable.
 */
public final class ChapSecrets {
    /** The reason for a refusal because of other users. A user does not learn who they are: only the log names them. */
    public static final String RESERVED = "this name is reserved for other users";

    /** The prefix of the initiator name of every primary. */
    public static final String PRIMARY_INITIATOR = "iqn.2026-11.io.modeldisk.shard:";

    /** The prefix of the initiator name of a process that only reads the status. No learner has such a name. */
    public static final String OBSERVER_INITIATOR = "iqn.2026-11.io.modeldisk.learner:status-";

    private static final int MAX_NAME_CHARS = 255;
    private static final int MAX_LISTED_PATTERNS = 3;
    private static final char BYTE_ORDER_MARK = '\uFEFF';
    private static final String RIGHTS = "may=";
    private static final String PEER = "peer";
    private static final String SELF = "self";
    private static final String ZOOKEEPER = "zookeeper";
    private static final String REPLICA = "replica";
    private static final String STATUS = "status";
    /** The words with which a line can begin. The third word of every line is a secret. */
    public static final Set<String> KINDS = Set.of(PEER, SELF, ZOOKEEPER, REPLICA, STATUS);
    private static final Set<String> PEERS = Set.of(PEER, REPLICA, STATUS);
    private static final InitiatorPattern PRIMARIES = new InitiatorPattern(PRIMARY_INITIATOR + "*");

    /**
     * A CHAP user: an initiator that may log in to the target, or the target that an initiator expects.
     *
     * @param secret the secret of the user
     * @param rights the rights of the user
     * @param initiators the initiators that may log in with the secret; empty if all initiators may log in
     */
    record Peer(ChapSecret secret, Set<Right> rights, List<InitiatorPattern> initiators) {
        /** Returns whether a pattern of this peer matches the initiator name. */
        boolean names(String initiatorName) {
            return initiators.stream().anyMatch(pattern -> pattern.matches(initiatorName));
        }
    }

    private final String selfName;
    private final ChapSecret self;
    /** The peers by their names, in the order of the lines. */
    private final Map<String, Peer> peers;
    /**
     * The peer that stands for every unknown user, so the login of an unknown user fails in the same way as a login with a wrong
     * secret.
     */
    private final Peer nobody;

    /** The words of the line {@code zookeeper}; null if there is none. */
    private final String[] zookeeper;

    /** The secrets with which a primary logs in to a backup; null if there is no line {@code replica}. */
    private final ChapSecrets ofPrimary;

    /** The secrets with which a shard logs in to other shards to read their status; null if there is no line {@code status}. */
    private final ChapSecrets ofObserver;

    private ChapSecrets(String selfName, ChapSecret self, Map<String, Peer> peers, String[] zookeeper,
        ChapSecrets ofPrimary, ChapSecrets ofObserver) {
        this.selfName = selfName;
        this.self = self;
        this.peers = peers;
        this.zookeeper = zookeeper;
        this.ofPrimary = ofPrimary;
        this.ofObserver = ofObserver;
        byte[] random = new byte[ChapSecret.MIN_BYTES];
        new SecureRandom().nextBytes(random);
        this.nobody = new Peer(new ChapSecret(random), Set.of(), List.of());
    }

    /**
     * Parses the lines of a text.
     *
     * @param source the name of the text's origin, for messages
     * @throws IllegalArgumentException if a line is malformed; the message contains the number of the line and a remedy, but no
     *     secret
     */
    public static ChapSecrets parse(String text, String source) {
        Arguments.require(text.isEmpty() || text.charAt(0) != BYTE_ORDER_MARK, source
            + " line 1: the file begins with a byte order mark (BOM); save it as UTF-8 without BOM");
        // The words of each line that a file may contain only once, by the kind of the line.
        Map<String, String[]> single = new HashMap<>();
        Map<String, Peer> peers = new LinkedHashMap<>();
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            String[] words = line.strip().split("\\s+");
            if (words[0].isEmpty() || words[0].startsWith("#")) {
                continue;
            }
            String where = source + " line " + number + ": ";
            checkForm(words, where);
            Arguments.require(words[0].equals(PEER) || single.put(words[0], words) == null,
                where + "the file has another line '" + words[0] + "'; remove one of them");
            if (PEERS.contains(words[0])) {
                Peer peer = peer(words, where);
                // Two users with the same secret could log in as each other.
                peers.forEach(
                    (name, other) -> Arguments.require(name.equals(words[1]) || !other.secret().equals(peer.secret()),
                        where + "the peer '" + words[1] + "' has the same secret as the peer '" + name
                            + "'; choose a different secret for each peer"));
                Arguments.require(peers.put(words[1], peer) == null,
                    where + "the file has another line for the peer '" + words[1] + "'; remove one of them");
            }
        }
        String[] own = single.get(SELF);
        String selfName = own == null ? null : own[1];
        ChapSecret self = own == null ? null : ChapSecret.of(own[2]);
        // With equal secrets an attacker could send a challenge back to its sender and get the response (RFC 7143 section 9.2.1).
        Arguments.require(peers.values().stream().noneMatch(peer -> peer.secret().equals(self)),
            source + ": 'self' has the same secret as a peer; choose a different secret for each direction");
        return new ChapSecrets(selfName, self, Collections.unmodifiableMap(peers), single.get(ZOOKEEPER),
            ofShard(single.get(REPLICA), selfName, self), ofShard(single.get(STATUS), selfName, self));
    }

    /**
     * Reads a secrets file, which is an {@link OwnerFile}.
     *
     * @throws IOException if the file is missing or malformed, or if other users can read or write it; the message contains a
     *     remedy
     */
    public static ChapSecrets read(Path file) throws IOException {
        try {
            return parse(OwnerFile.read(file, "secrets file"), file.toString());
        } catch (IllegalArgumentException e) {
            throw new SettingException("the secrets file " + e.getMessage(), e);
        }
    }

    /**
     * Returns the secrets with which a shard logs in to another process of the model. {@code line} contains the name and secret
     * of the shard. The other process has the same line.
     */
    private static ChapSecrets ofShard(String[] line, String selfName, ChapSecret self) {
        if (line == null) {
            return null;
        }
        Map<String, Peer> targets = self == null
            ? Map.of()
            : Map.of(selfName, new Peer(self, Set.of(), List.of()));
        return new ChapSecrets(line[1], ChapSecret.of(line[2]), targets, null, null, null);
    }

    private static void checkForm(String[] words, String where) {
        Arguments.require(KINDS.contains(words[0]),
            where + "the line must begin with 'peer', 'self', 'zookeeper', 'replica' or 'status'");
        Arguments.require(words[0].equals(PEER) ? words.length >= 3 : words.length == 3,
            where + "the line must be 'peer NAME SECRET [may=RIGHTS] [INITIATOR-PATTERN...]', 'self NAME SECRET',"
                + " 'zookeeper NAME SECRET', 'replica NAME SECRET' or 'status NAME SECRET'");
        Arguments.require(words[1].length() <= MAX_NAME_CHARS,
            where + "the name has more than " + MAX_NAME_CHARS + " characters");
        Arguments.require(ChapSecret.isLongEnough(words[2]), where + "the secret of '" + words[1] + "' must have "
            + ChapSecret.MIN_BYTES + " to " + ChapSecret.MAX_BYTES + " bytes");
    }

    private static Peer peer(String[] words, String where) {
        ChapSecret secret = ChapSecret.of(words[2]);
        if (words[0].equals(REPLICA)) {
            return new Peer(secret, Set.of(Right.REPLICATE), List.of(PRIMARIES));
        }
        if (words[0].equals(STATUS)) {
            return new Peer(secret, Set.of(Right.STATUS), List.of());
        }
        Set<Right> rights = Right.DEFAULT;
        boolean given = false;
        List<InitiatorPattern> patterns = new ArrayList<>();
        try {
            for (int i = 3; i < words.length; i++) {
                if (words[i].startsWith(RIGHTS)) {
                    Arguments.require(!given,
                        RIGHTS + " is given twice; list all rights in one, such as may=learn,raw");
                    given = true;
                    rights = Right.parse(words[i].substring(RIGHTS.length()));
                } else {
                    patterns.add(new InitiatorPattern(words[i]));
                }
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(where + e.getMessage(), e);
        }
        return new Peer(secret, rights, List.copyOf(patterns));
    }

    /** Returns whether there is a line {@code self}. */
    public boolean hasSelf() {
        return self != null;
    }

    /** Returns whether there is a line {@code peer}. */
    public boolean hasPeers() {
        return !peers.isEmpty();
    }

    /**
     * Returns the secrets with which a primary logs in to a backup; null if there is no line {@code replica}. The line
     * {@code replica} contains the primary's name and secret. If there is a line {@code self}, the backup must authenticate with
     * that line.
     */
    public ChapSecrets ofPrimary() {
        return ofPrimary;
    }

    /**
     * Returns the secrets with which a shard logs in to the other shards of the model to read their status; null if there is no
     * line {@code status}. The line {@code status} has the same role as the line {@code replica} in {@link #ofPrimary}.
     */
    public ChapSecrets ofObserver() {
        return ofObserver;
    }

    /** Returns whether there is a line {@code zookeeper}. */
    public boolean hasZookeeper() {
        return zookeeper != null;
    }

    /** The name in the line {@code zookeeper}. */
    public String zookeeperName() {
        return zookeeper[1];
    }

    /** The secret in the line {@code zookeeper}. */
    public String zookeeperSecret() {
        return zookeeper[2];
    }

    /** Returns the name in the line {@code self}; null if there is none. */
    public String selfName() {
        return selfName;
    }

    ChapSecret self() {
        return self;
    }

    Peer peer(String name) {
        return peers.getOrDefault(name, nobody);
    }

    /**
     * Returns the reason why a user may not log in under an initiator name, with the patterns of the user's own line. Returns
     * null if the user may. If a pattern of any peer matches the name, only peers with such a pattern may use the name. Every
     * user may use the name of an observer.
     */
    String refusal(String user, String initiatorName) {
        Peer peer = peer(user);
        boolean primary = initiatorName.startsWith(PRIMARY_INITIATOR);
        if (primary && !peer.rights().contains(Right.REPLICATE)) {
            return "initiators " + PRIMARIES + " need may=" + Right.REPLICATE;
        }
        if (peer.names(initiatorName) || initiatorName.startsWith(OBSERVER_INITIATOR)) {
            return null;
        }
        if (!peer.initiators().isEmpty()) {
            return "its line in the shard's secrets file admits only " + listed(peer.initiators());
        }
        return primary || reservation(initiatorName) == null ? null : RESERVED;
    }

    /** Returns the line that reserves an initiator name, as text for the log; null if no pattern reserves the name. */
    String reservation(String initiatorName) {
        return peers.values().stream().flatMap(peer -> peer.initiators().stream())
            .filter(pattern -> pattern.matches(initiatorName)).findFirst()
            .map(pattern -> "another line of the shard's secrets file reserves " + pattern).orElse(null);
    }

    /** Returns the first patterns of a list as text, and the number of the others. */
    private static String listed(List<InitiatorPattern> patterns) {
        int others = patterns.size() - MAX_LISTED_PATTERNS;
        return patterns.stream().limit(MAX_LISTED_PATTERNS).map(InitiatorPattern::text)
            .collect(Collectors.joining(", ")) + (others > 0 ? " and " + others + " more" : "");
    }

    /** Returns the rights of a user that has logged in under an initiator name, for which {@link #refusal} returns null. */
    Set<Right> rights(String user, String initiatorName) {
        Peer peer = peer(user);
        boolean excluded = !peer.initiators().isEmpty() && !peer.names(initiatorName);
        return excluded ? Set.of(Right.STATUS) : peer.rights();
    }

    boolean knows(Peer peer) {
        return peer != nobody;
    }

    /** Returns the number of peers, without names and secrets. */
    @Override
    public String toString() {
        return peers.size() + (peers.size() == 1 ? " peer" : " peers") + (self == null ? "" : " and self");
    }
}
