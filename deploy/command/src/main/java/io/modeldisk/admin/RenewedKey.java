package io.modeldisk.admin;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The key store with the certificate and the key of a file, which is read again after it has changed, because certificates are
 * renewed while a shard runs for months. If the new contents cannot be used, the old ones stay in use, and the log has the
 * reason. Thread-safe.
 */
final class RenewedKey extends KeyStore.Builder {
    private static final Logger LOG = LogManager.getLogger(RenewedKey.class);
    private static final long CHECK_NS = TimeUnit.SECONDS.toNanos(1);

    private final Path file;
    private final NanoClock clock;
    /** The time of the last change of the file; 0 if there was none. */
    private long modifiedMs;
    private long checkedNs;
    /** The reason why the changed file cannot be used, as logged; null if it can, or has not changed. */
    private String failure;
    private AdminTls.Identity current;

    RenewedKey(Path file, NanoClock clock) throws IOException {
        this.file = file;
        this.clock = clock;
        modifiedMs = file.toFile().lastModified();
        checkedNs = clock.nanoTime();
        current = AdminTls.identity(file);
    }

    /** Returns the store. Java asks for it at each handshake. */
    @Override
    public synchronized KeyStore getKeyStore() {
        renew();
        return current.store();
    }

    private void renew() {
        long nowNs = clock.nanoTime();
        if (nowNs - checkedNs < CHECK_NS) {
            return;
        }
        checkedNs = nowNs;
        try {
            long nowMs = file.toFile().lastModified();
            if (nowMs != modifiedMs) {
                current = AdminTls.identity(file);
                // Only now, because the owner or the mode of the file may change next, which leaves this time as it is.
                modifiedMs = nowMs;
                failure = null;
                LOG.info("--admin has a new certificate, which is valid until {}", current.validUntil());
            }
        } catch (IOException e) {
            if (!e.getMessage().equals(failure)) {
                LOG.error("--admin keeps its old certificate: {}", e.getMessage());
            }
            failure = e.getMessage();
        }
    }

    @Override
    public KeyStore.ProtectionParameter getProtectionParameter(String alias) {
        return AdminTls.PROTECTION;
    }
}
