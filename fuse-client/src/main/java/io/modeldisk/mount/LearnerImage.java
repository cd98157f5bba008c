package io.modeldisk.mount;

import io.modeldisk.mount.exchange.ExchangeImage;
import io.modeldisk.striping.SessionsImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The state of a mount with which another process continues its learner. Consists of records that the classes with this state
 * give and take: a field that is new in one of them belongs into its record, or a test names the reason why not.
 *
 * @param completedRequest the kernel's number of the request that has completed last, whose reply the kernel may lack; 0 if
 *     there is none
 * @param sessions the learner's state in its sessions with the shards
 * @param exchange the state of the exchange
 */
record LearnerImage(long completedRequest, SessionsImage sessions, ExchangeImage exchange) {
    /** Returns the bytes of the image. Their number is the same for all images of a mount. */
    byte[] toBytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream to = new DataOutputStream(bytes);
        try {
            to.writeLong(completedRequest);
            sessions.write(to);
            exchange.write(to);
        } catch (IOException e) {
            throw new UncheckedIOException("an array in memory cannot fail", e);
        }
        return bytes.toByteArray();
    }

    /** Returns the image with these bytes. */
    static LearnerImage of(byte[] bytes) throws IOException {
        DataInputStream from = new DataInputStream(new ByteArrayInputStream(bytes));
        return new LearnerImage(from.readLong(), SessionsImage.read(from), ExchangeImage.read(from));
    }
}
