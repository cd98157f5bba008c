package io.modeldisk.fault.record;

import io.modeldisk.fault.membership.Membership;
import io.modeldisk.fault.membership.MembershipChange;
import io.modeldisk.fault.membership.MembershipImage;
import io.modeldisk.protocol.engine.Nexus;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Writes and reads the records of the learners.
 *
 * <p>{@link RecordKind#LEARNER}: the flags are the code of the change, the offset is the place, the version is the last opened
 * round, and learner and round are those of the {@link MembershipChange}. If a learner has joined, the body is its key.
 *
 * <p>{@link RecordKind#ROSTER}: the version is the last opened round, and the round is the first round. The body has the other
 * fields of the {@link MembershipImage}, in their order.
 *
 * <p>A body contains integers in big endian, and texts in the modified UTF-8 of {@link DataOutputStream}.
 */
public final class MemberRecords {
    private static final int NO_BLOCK = -1;

    private MemberRecords() {}

    /** Appends a record of each membership change from now on. Must be called before other threads use the membership. */
    public static void record(Membership<Nexus, ?> membership, RecordLog log) {
        membership.record(change -> append(log, change));
    }

    private static void append(RecordLog log, MembershipChange<Nexus> change) {
        append(log, RecordKind.LEARNER, code(change.kind()), change.place(), change.number(), change.round(),
            change.openedRound(), change.kind() == MembershipChange.Kind.JOINED ? encode(change.key()) : new byte[0]);
    }

    /** Appends all learners, rounds and partitions of a membership. Returns the position of the record. */
    public static long appendRoster(Membership<Nexus, ?> membership, RecordLog log) {
        long[] position = new long[1];
        membership
            .image(image -> position[0] = append(log, RecordKind.ROSTER, image.formed() ? RecordHeader.FORMED : 0, 0, 0,
                image.firstRound(), image.openedRound(), encode(image)));
        return position[0];
    }

    private static long append(RecordLog log, RecordKind kind, byte flags, int place, long number, long round,
        long opened,
        byte[] body) {
        return log.append(kind, flags, NO_BLOCK, place, number, round, opened, body.length,
            (memory, start) -> MemorySegment.copy(body, 0, memory, ValueLayout.JAVA_BYTE, start, body.length));
    }

    /**
     * Returns the change in a record.
     *
     * @throws DamagedRecordException if the record is not a change of the learners; the message has the reason
     */
    public static MembershipChange<Nexus> change(RecordHeader record) throws DamagedRecordException {
        MembershipChange.Kind kind = kind(record);
        Nexus key = kind == MembershipChange.Kind.JOINED
            ? decode(record, in -> readUser(in, readKey(in)))
            : null;
        return new MembershipChange<>(kind, key, record.learner(), record.round(), record.offset(), record.version());
    }

    /**
     * Returns the learners, rounds and partitions in a record.
     *
     * @throws DamagedRecordException if the record does not have them; the message has the reason
     */
    public static MembershipImage<Nexus> roster(RecordHeader record) throws DamagedRecordException {
        return decode(record, in -> {
            long asked = in.readLong();
            long fixed = in.readLong();
            List<MembershipImage.Division> divisions = new ArrayList<>();
            for (int left = in.readInt(); left > 0; left--) {
                long epoch = in.readLong();
                long first = in.readLong();
                List<Long> numbers = new ArrayList<>();
                for (int members = in.readInt(); members > 0; members--) {
                    numbers.add(in.readLong());
                }
                divisions.add(new MembershipImage.Division(epoch, first, numbers));
            }
            List<MembershipImage.Learner<Nexus>> learners = new ArrayList<>();
            for (int left = in.readInt(); left > 0; left--) {
                long number = in.readLong();
                long joinRound = in.readLong();
                int place = in.readInt();
                learners.add(new MembershipImage.Learner<>(readKey(in), number, joinRound, place));
            }
            for (int i = 0; i < learners.size(); i++) {
                MembershipImage.Learner<Nexus> learner = learners.get(i);
                learners.set(i, new MembershipImage.Learner<>(readUser(in, learner.key()), learner.number(),
                    learner.joinRound(), learner.place()));
            }
            return new MembershipImage<>(record.has(RecordHeader.FORMED), record.version(), record.round(), asked,
                fixed,
                divisions, learners);
        });
    }

    private static byte code(MembershipChange.Kind kind) {
        return switch (kind) {
            case JOINED -> 1;
            case LEFT -> 2;
            case POSTPONED -> 3;
            case ASKED -> 4;
            case FIXED -> 5;
        };
    }

    private static MembershipChange.Kind kind(RecordHeader record) throws DamagedRecordException {
        for (MembershipChange.Kind kind : MembershipChange.Kind.values()) {
            if (code(kind) == record.flags()) {
                return kind;
            }
        }
        throw new DamagedRecordException(record + " has the unknown code " + record.flags());
    }

    private static byte[] encode(MembershipImage<Nexus> image) {
        return encode(out -> {
            out.writeLong(image.askedRound());
            out.writeLong(image.fixedRound());
            out.writeInt(image.divisions().size());
            for (MembershipImage.Division division : image.divisions()) {
                out.writeLong(division.epoch());
                out.writeLong(division.firstRound());
                out.writeInt(division.numbers().size());
                for (long number : division.numbers()) {
                    out.writeLong(number);
                }
            }
            out.writeInt(image.learners().size());
            for (MembershipImage.Learner<Nexus> learner : image.learners()) {
                out.writeLong(learner.number());
                out.writeLong(learner.joinRound());
                out.writeInt(learner.place());
                writeKey(out, learner.key());
            }
            for (MembershipImage.Learner<Nexus> learner : image.learners()) {
                writeUser(out, learner.key());
            }
        });
    }

    private static byte[] encode(Nexus key) {
        return encode(out -> {
            writeKey(out, key);
            writeUser(out, key);
        });
    }

    private static void writeKey(DataOutputStream out, Nexus key) throws IOException {
        out.writeUTF(key.initiatorName());
        out.writeLong(key.isid());
        out.writeUTF(key.targetName());
        out.writeUTF(key.learner());
    }

    /** Writes the user of a key. The users follow all keys of a record, because earlier versions ignore them there. */
    private static void writeUser(DataOutputStream out, Nexus key) throws IOException {
        out.writeUTF(key.user() == null ? "" : key.user());
    }

    /** Reads a key. The key has no rights and no host, because rights and host belong to a session. */
    private static Nexus readKey(DataInputStream in) throws IOException {
        return new Nexus(in.readUTF(), in.readLong(), in.readUTF(), in.readUTF(), Set.of(), null, null);
    }

    /** Returns a key with its user. A record of an earlier version has no users. */
    private static Nexus readUser(DataInputStream in, Nexus key) throws IOException {
        String user = in.available() == 0 ? "" : in.readUTF();
        return new Nexus(key.initiatorName(), key.isid(), key.targetName(), key.learner(), key.rights(),
            user.isEmpty() ? null : user, null);
    }

    @FunctionalInterface
    private interface Encoder {
        void write(DataOutputStream out) throws IOException;
    }

    @FunctionalInterface
    private interface Decoder<T> {
        T read(DataInputStream in) throws IOException;
    }

    private static byte[] encode(Encoder body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            body.write(new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException("a stream in memory failed", e);
        }
        return bytes.toByteArray();
    }

    private static <T> T decode(RecordHeader record, Decoder<T> body) throws DamagedRecordException {
        byte[] bytes = record.memory().asSlice(record.bodyStart(), record.bodyBytes()).toArray(ValueLayout.JAVA_BYTE);
        try {
            return body.read(new DataInputStream(new ByteArrayInputStream(bytes)));
        } catch (IOException e) {
            throw new DamagedRecordException(record + " has a body that cannot be read: " + e);
        }
    }
}
