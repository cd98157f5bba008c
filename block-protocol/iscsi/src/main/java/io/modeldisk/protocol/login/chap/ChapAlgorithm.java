package io.modeldisk.protocol.login.chap;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** The digests of CHAP, the strongest first, with their numbers in IANA's registry of PPP authentication algorithms. */
public enum ChapAlgorithm {
    /** SHA3-256. */
    SHA3_256(8, "SHA3-256"),
    /** SHA-256. */
    SHA_256(7, "SHA-256"),
    /** MD5, which every initiator supports (RFC 1994). */
    MD5(5, "MD5");

    private final int number;
    private final String digest;

    ChapAlgorithm(int number, String digest) {
        this.number = number;
        this.digest = digest;
    }

    /** Returns the value of {@code CHAP_A}: all algorithms that this Java runtime supports, the strongest first. */
    public static String offer() {
        return Arrays.stream(values()).filter(ChapAlgorithm::isAvailable).map(a -> Integer.toString(a.number))
            .collect(Collectors.joining(","));
    }

    /** Returns the strongest known algorithm of a {@code CHAP_A} list; empty if the list has no known algorithm. */
    public static Optional<ChapAlgorithm> strongestOf(String offer) {
        var numbers = Arrays.asList(offer.split(",", -1));
        return Arrays.stream(values())
            .filter(a -> numbers.contains(Integer.toString(a.number)) && a.isAvailable()).findFirst();
    }

    /** The number of the algorithm in {@code CHAP_A}. */
    public int number() {
        return number;
    }

    /** Returns whether this Java runtime supports the algorithm. A runtime in FIPS mode might not support MD5. */
    public boolean isAvailable() {
        try {
            MessageDigest.getInstance(digest);
            return true;
        } catch (NoSuchAlgorithmException e) {
            return false;
        }
    }

    /** Creates a digest of this algorithm, which must be available. */
    MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(
                "this Java runtime no longer supports the digest " + digest + ", which it supported before", e);
        }
    }
}
