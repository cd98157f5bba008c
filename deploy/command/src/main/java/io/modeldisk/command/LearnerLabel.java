package io.modeldisk.command;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.random.RandomGenerator;

/**
 * The learner's name if no option gives one: a prefix, the process number and a random number, as {@code gpu7-4711-9f3a01c2}.
 * Containers of one host may share host name and process number, and two learners of one name end each other's sessions: the
 * random number keeps them apart.
 */
final class LearnerLabel {
    private static final int MAX_LENGTH = 48;

    private LearnerLabel() {}

    /** A label that begins with this host's name. */
    static String ofThisHost() {
        String host;
        try {
            host = InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            host = "localhost";
        }
        return unique(host);
    }

    /** A label that begins with a prefix. */
    static String unique(String prefix) {
        return unique(prefix, ProcessHandle.current().pid(), new SecureRandom());
    }

    /** Cuts the prefix so that the label has at most 48 characters, and replaces characters that a label may not have. */
    static String unique(String prefix, long processId, RandomGenerator random) {
        String end = "-%d-%08x".formatted(processId, random.nextInt());
        String start = prefix.replaceAll("[^A-Za-z0-9.-]", "-");
        return start.substring(0, Math.min(start.length(), MAX_LENGTH - end.length())) + end;
    }
}
