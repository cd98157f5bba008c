package io.modeldisk.aggregator.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Prints the SHA-256 hash of each kernel file in a jar, for the transcript of deploy/gpu-tests. The argument is the jar. */
final class KernelHashes {
    private static final String SUFFIX = ".ptx";

    private KernelHashes() {}

    static void main(String[] arguments) throws IOException, GeneralSecurityException {
        try (ZipFile jar = new ZipFile(arguments[0])) {
            for (ZipEntry entry : jar.stream().filter(each -> each.getName().endsWith(SUFFIX)).toList()) {
                try (InputStream ptx = jar.getInputStream(entry)) {
                    byte[] hash = MessageDigest.getInstance("SHA-256").digest(ptx.readAllBytes());
                    System.out.println(HexFormat.of().formatHex(hash) + "  " + Path.of(entry.getName()).getFileName());
                }
            }
        }
    }
}
