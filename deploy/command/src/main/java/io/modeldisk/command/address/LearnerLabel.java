package io.modeldisk.command.address;

import io.modeldisk.platform.text.PlainText;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.random.RandomGenerator;

/**
 * The default label of a learner: a prefix, the process ID and a random number, such as {@code gpu7-4711-9f3a01c2}. The random
 * number is necessary because containers of one host can have the same host name and process ID. Two learners with the same label
 * cannot take part at the same time.
 */
public final class LearnerLabel {
    private static final int MAX_LENGTH = 48;

    private LearnerLabel() {}

    /** Returns a label that begins with the name of this host. */
    public static String ofThisHost() {
        return unique(hostName());
    }

    /** Returns the name of this host, or {@code localhost} if the name has no address. */
    public static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }

    /** Returns a label that begins with a prefix. */
    public static String unique(String prefix) {
        return unique(prefix, ProcessHandle.current().pid(), new SecureRandom());
    }

    /**
     * Returns a label of at most 48 characters. A long prefix is cut, and characters that are not allowed in a label are
     * replaced.
     */
    public static String unique(String prefix, long processId, RandomGenerator random) {
        String end = PlainText.format("-%d-%08x", processId, random.nextInt());
        String start = prefix.replaceAll("[^A-Za-z0-9.-]", "-");
        return start.substring(0, Math.min(start.length(), MAX_LENGTH - end.length())) + end;
    }
}
