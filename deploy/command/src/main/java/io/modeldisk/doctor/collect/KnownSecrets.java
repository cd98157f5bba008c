package io.modeldisk.doctor.collect;

import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/** The secrets in the secrets files of this machine that this user can read. They serve only to find and mask copies of them. */
final class KnownSecrets {
    private static final long MAX_BYTES = 1 << 20;
    private static final int SECRET_WORD = 2;

    private final Set<String> secrets = new HashSet<>();
    private final Set<Path> files = new HashSet<>();

    /** Reads the secrets of a secrets file, or the token in a file with one line. A file that cannot be read has none. */
    void add(Path file) {
        try {
            files.add(file.toRealPath());
            if (!Files.isRegularFile(file) || Files.size(file) > MAX_BYTES) {
                return;
            }
            for (String line : text(file).lines().toList()) {
                String[] words = line.strip().split("\\s+");
                boolean ofSecretsFile = ChapSecrets.KINDS.contains(words[0]) && words.length > SECRET_WORD;
                secrets.add(ofSecretsFile ? words[SECRET_WORD] : line.strip());
            }
        } catch (IOException e) {
            // A file that this user cannot read cannot get into the archive either, except through a copy that the names betray.
        }
    }

    private static String text(Path file) throws IOException {
        try {
            return Files.readString(file);
        } catch (CharacterCodingException e) {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        }
    }

    /** Returns whether this is one of the secrets files. */
    boolean isFile(Path file) {
        try {
            return files.contains(file.toRealPath());
        } catch (IOException e) {
            return false;
        }
    }

    /** The secrets. */
    Set<String> all() {
        return secrets;
    }
}
