package io.modeldisk.admin;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A key store with the certificate and the key of a file. The file is read again after each change, because certificates are
 * renewed while a shard runs for months. If the new contents cannot be used, the old certificate and key stay in use, and the log
 * contains the reason. Thread-safe.
 */
final class RenewedKey extends KeyStore.Builder {
    private static final Logger LOG = LogManager.getLogger(RenewedKey.class);
    private static final long CHECK_NS = TimeUnit.SECONDS.toNanos(1);

    private final Path file;
    private final NanoClock clock;
    /** The modification time of the file when its current certificate was read. */
    private long modifiedMs;
    private long checkedNs;
    /** The logged reason why the changed file cannot be used; null if the file is usable or has not changed. */
    private String failure;
    private AdminTls.Identity current;

    RenewedKey(Path file, NanoClock clock) throws IOException {
        this.file = file;
        this.clock = clock;
        modifiedMs = file.toFile().lastModified();
        checkedNs = clock.nanoTime();
        current = AdminTls.identity(file);
    }

    /** Returns the key store. Java calls this method at each TLS handshake. */
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
                // The time is stored only after a successful read, so each check after a failure reads the file again. An
                // operator might correct the owner or the mode of the file, which does not change its modification time.
                modifiedMs = nowMs;
                failure = null;
                LOG.info("--admin uses a new certificate, which is valid until {}", current.validUntil());
            }
        } catch (IOException e) {
            if (!e.getMessage().equals(failure)) {
                LOG.error("--admin keeps its old certificate, because the new one cannot be used: {}", e.getMessage());
            }
            failure = e.getMessage();
        }
    }

    @Override
    public KeyStore.ProtectionParameter getProtectionParameter(String alias) {
        return AdminTls.PROTECTION;
    }
}
