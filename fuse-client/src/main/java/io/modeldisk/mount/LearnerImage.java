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
 * The state of a mount that another process needs to continue the learner. Each class that holds such state saves it as a record.
 * A new field of such a class must be added to its record, or a test (ExchangeImageTest, SessionsImageTest) must name the reason
 * why the record does not contain the field.
 *
 * @param completedRequest the kernel's number of the request that completed last. 0 if no request has completed. The kernel might
 *     not have received the reply to this request
 * @param sessions the learner's state in its sessions with the shards
 * @param exchange the state of the exchange
 */
record LearnerImage(long completedRequest, SessionsImage sessions, ExchangeImage exchange) {
    /** Encodes the image. All images of a mount have the same length. */
    byte[] toBytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream to = new DataOutputStream(bytes);
        try {
            to.writeLong(completedRequest);
            sessions.write(to);
            exchange.write(to);
        } catch (IOException e) {
            throw new UncheckedIOException("a learner's image could not be written to memory", e);
        }
        return bytes.toByteArray();
    }

    /** Decodes an image that {@link #toBytes} has encoded. */
    static LearnerImage of(byte[] bytes) throws IOException {
        DataInputStream from = new DataInputStream(new ByteArrayInputStream(bytes));
        return new LearnerImage(from.readLong(), SessionsImage.read(from), ExchangeImage.read(from));
    }
}
