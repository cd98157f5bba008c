package io.modeldisk.admin;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The certificate and the key of a file, which is read again after it has changed, because certificates are renewed while a shard
 * runs for months. If the new contents cannot be used, the old ones stay in use, and the log has the reason. Thread-safe.
 */
final class RenewedKey extends X509ExtendedKeyManager {
    private static final Logger LOG = LogManager.getLogger(RenewedKey.class);
    private static final String ALIAS = "admin";
    private static final long CHECK_NS = TimeUnit.SECONDS.toNanos(1);

    private final Path file;
    private final NanoClock clock;
    /** The time of the last change of the file; 0 if there was none. */
    private long modifiedMs;
    private long checkedNs;
    /** Why the changed file cannot be used, as the log has it; null if it can, or has not changed. */
    private String failure;
    private AdminTls.Identity current;

    RenewedKey(Path file, NanoClock clock) throws IOException {
        this.file = file;
        this.clock = clock;
        modifiedMs = file.toFile().lastModified();
        checkedNs = clock.nanoTime();
        current = AdminTls.identity(file);
    }

    private synchronized AdminTls.Identity current() {
        long nowNs = clock.nanoTime();
        if (nowNs - checkedNs < CHECK_NS) {
            return current;
        }
        checkedNs = nowNs;
        try {
            long nowMs = file.toFile().lastModified();
            if (nowMs != modifiedMs) {
                current = AdminTls.identity(file);
                // Only now, because the owner or the mode of the file may change next, which leaves this time as it is.
                modifiedMs = nowMs;
                failure = null;
                LOG.info("--admin has a new certificate, which is valid until {}",
                    current.chain().getFirst().getNotAfter());
            }
        } catch (IOException e) {
            if (!e.getMessage().equals(failure)) {
                LOG.error("--admin goes on with its old certificate: {}", e.getMessage());
            }
            failure = e.getMessage();
        }
        return current;
    }

    @Override
    public String[] getServerAliases(String keyType, Principal[] issuers) {
        return current().key().getAlgorithm().equals(keyType) ? new String[]{ALIAS} : null;
    }

    @Override
    public String chooseEngineServerAlias(String keyType, Principal[] issuers, SSLEngine engine) {
        String own = current().key().getAlgorithm();
        return own.equals(keyType) || own.equals("EdDSA") && keyType.startsWith("Ed") ? ALIAS : null;
    }

    @Override
    public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
        return chooseEngineServerAlias(keyType, issuers, null);
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
        List<X509Certificate> chain = current().chain();
        return chain.toArray(X509Certificate[]::new);
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
        return current().key();
    }

    @Override
    public String[] getClientAliases(String keyType, Principal[] issuers) {
        return null;
    }

    @Override
    public String chooseClientAlias(String[] keyTypes, Principal[] issuers, Socket socket) {
        return null;
    }
}
