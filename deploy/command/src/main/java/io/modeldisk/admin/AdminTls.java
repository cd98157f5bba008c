package io.modeldisk.admin;

import io.modeldisk.platform.files.OwnerFile;
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
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** Reads a certificate and its key for TLS from a file in PEM (RFC 7468). */
public final class AdminTls {
    private static final Pattern PART = Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----");

    private AdminTls() {}

    /**
     * Reads a file with the certificate of the server, the certificates between it and the authority if there are any, and the
     * key of the server in PKCS #8 without a password.
     *
     * @throws IOException if the file cannot be read, others can read it, or its contents are not usable; the message has a
     *     remedy
     */
    public static SSLContext read(Path file) throws IOException {
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
                        "ENCRYPTED PRIVATE KEY" -> throw new IOException("the TLS file "
                            + file + " has a key in the form '" + parts.group(1)
                            + "'; convert it with: openssl pkcs8 -topk8 -nodes -in KEY");
                    default -> {
                        // Such as the parameters of a curve, which the key names too.
                    }
                }
            }
            if (chain.isEmpty() || key == null) {
                throw new IOException(
                    "the TLS file " + file + " has no " + (chain.isEmpty() ? "CERTIFICATE" : "PRIVATE KEY")
                        + "; it must have both in PEM: cat CERTIFICATE KEY > " + file);
            }
            return context(file, chain, key);
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new IOException("the TLS file " + file + " cannot be used: " + e.getMessage(), e);
        }
    }

    private static SSLContext context(Path file, List<X509Certificate> chain, byte[] encoded)
        throws GeneralSecurityException, IOException {
        X509Certificate own = chain.getFirst();
        own.checkValidity();
        PrivateKey key = KeyFactory.getInstance(own.getPublicKey().getAlgorithm())
            .generatePrivate(new PKCS8EncodedKeySpec(encoded));
        if (!belongTogether(own, key)) {
            throw new IOException(
                "the first certificate and the key of the TLS file " + file + " do not belong together");
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("admin", key, new char[0], chain.toArray(Certificate[]::new));
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, new char[0]);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context;
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
