package io.modeldisk.admin;

import io.modeldisk.platform.SettingException;
import io.modeldisk.platform.files.OwnerFile;
import io.modeldisk.platform.time.NanoClock;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.KeyStoreBuilderParameters;
import javax.net.ssl.SSLContext;

/** Reads a certificate and its key for TLS from a file in PEM (RFC 7468). */
public final class AdminTls {
    private static final Pattern PART = Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----");

    /**
     * The password that Java requires for a key in a key store. It protects nothing, because the key stores are only in memory.
     */
    static final KeyStore.PasswordProtection PROTECTION = new KeyStore.PasswordProtection("memory".toCharArray());

    private AdminTls() {}

    /**
     * A key store with the key, the certificate and the intermediate certificates of the server, and the date until which the
     * certificate is valid.
     */
    record Identity(KeyStore store, Date validUntil) {}

    /**
     * Reads a file with the certificate of the server, the intermediate certificates if there are any, and the key of the server
     * in PKCS #8 without a password. The file is read again when it changes.
     *
     * @throws IOException if the file cannot be read, others can read it, or its contents are not usable; the message says what
     *     to do
     */
    public static SSLContext read(Path file) throws IOException {
        RenewedKey key = new RenewedKey(file, NanoClock.SYSTEM);
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            // Unlike the default algorithm, NewSunX509 reads the key store again at each handshake.
            KeyManagerFactory keys = KeyManagerFactory.getInstance("NewSunX509");
            keys.init(new KeyStoreBuilderParameters(key));
            context.init(keys.getKeyManagers(), null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java runtime supports TLS", e);
        }
    }

    /** Reads the certificate and the key of a file; see {@link #read}. */
    static Identity identity(Path file) throws IOException {
        String text = OwnerFile.read(file, "TLS file");
        List<X509Certificate> chain = new ArrayList<>();
        byte[] key = null;
        Matcher parts = PART.matcher(text);
        try {
            while (parts.find()) {
                byte[] content = Base64.getMimeDecoder().decode(parts.group(2));
                switch (parts.group(1)) {
                    case "CERTIFICATE" -> chain.add((X509Certificate) CertificateFactory.getInstance("X.509")
                        .generateCertificate(new ByteArrayInputStream(content)));
                    case "PRIVATE KEY" -> key = content;
                    case "RSA PRIVATE KEY", "EC PRIVATE KEY",
                        "ENCRYPTED PRIVATE KEY" -> throw new SettingException("the TLS file "
                            + file + " has a key in the form '" + parts.group(1)
                            + "'; convert it with: openssl pkcs8 -topk8 -nodes -in KEY");
                    default -> {
                        // Other parts are not needed, such as the parameters of an elliptic curve, which the key also contains.
                    }
                }
            }
            if (chain.isEmpty() || key == null) {
                throw new SettingException(
                    "the TLS file " + file + " has no " + (chain.isEmpty() ? "CERTIFICATE" : "PRIVATE KEY")
                        + "; it must have both in PEM: cat CERTIFICATE KEY > " + file);
            }
            X509Certificate own = chain.getFirst();
            own.checkValidity();
            PrivateKey decoded = KeyFactory.getInstance(own.getPublicKey().getAlgorithm())
                .generatePrivate(new PKCS8EncodedKeySpec(key));
            if (!belongTogether(own, decoded)) {
                throw new SettingException(
                    "the first certificate and the key of the TLS file " + file + " do not belong together");
            }
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("admin", decoded, PROTECTION.getPassword(), chain.toArray(Certificate[]::new));
            return new Identity(store, own.getNotAfter());
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new SettingException("the TLS file " + file + " cannot be used: " + e.getMessage(), e);
        }
    }

    private static boolean belongTogether(X509Certificate certificate, PrivateKey key) throws GeneralSecurityException {
        String name = switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> key.getAlgorithm();
        };
        byte[] text = "modeldisk".getBytes(StandardCharsets.US_ASCII);
        Signature signature = Signature.getInstance(name);
        signature.initSign(key);
        signature.update(text);
        byte[] signed = signature.sign();
        signature.initVerify(certificate);
        signature.update(text);
        return signature.verify(signed);
    }
}
