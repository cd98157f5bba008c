package io.modeldisk.fault.coordination;

import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;

/**
 * The name and secret of the processes that may change znodes (ZooKeeper's scheme {@code digest}).
 *
 * @param name the name, without a colon
 * @param secret the secret
 */
public record CoordinatorSecret(String name, String secret) {
    static final String SCHEME = "digest";

    /**
     * Checks the name.
     *
     * @throws IllegalArgumentException if the name contains a colon
     */
    public CoordinatorSecret {
        if (name.indexOf(':') >= 0) {
            throw new IllegalArgumentException(
                "the name '" + name + "' of the line 'zookeeper' must not contain a colon");
        }
    }

    byte[] credentials() {
        return (name + ":" + secret).getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the rights for znodes: every client may read them, and only a client with the secret may change them. */
    static List<ACL> rights(CoordinatorSecret secret) {
        if (secret == null) {
            return ZooDefs.Ids.OPEN_ACL_UNSAFE;
        }
        try {
            String identity = DigestAuthenticationProvider.generateDigest(secret.name + ":" + secret.secret);
            // ZooKeeper searches the list for null, which List.of() does not allow.
            return Arrays.asList(new ACL(ZooDefs.Perms.ALL, new Id(SCHEME, identity)),
                new ACL(ZooDefs.Perms.READ, ZooDefs.Ids.ANYONE_ID_UNSAFE));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("ZooKeeper's digest algorithm is missing", e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
