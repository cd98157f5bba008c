package io.modeldisk.protocol.engine;

import static io.modeldisk.test.Await.await;

import io.modeldisk.protocol.engine.RawInitiator.Reply;
import io.modeldisk.test.ErrorLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Sends random commands over a session that otherwise obeys the protocol. Every command must end with a status, move no more
 * data than the initiator expects, and report the correct residual.
 *
 * <p>An input consists of commands of 22 bytes each: one byte of flags, one byte of LUN, 16 bytes of CDB, two bytes of expected
 * length in units of 64 bytes, and two bytes of immediate data length.
 */
public final class CommandFuzz {
    private static final int RECORD_BYTES = 22;
    private static final int MAX_COMMANDS = 16;
    private static final CommandFuzz INSTANCE = new CommandFuzz();

    private final ErrorLog errors = new ErrorLog();
    private final Serving serving;
    private final RawInitiator raw;
    private final long freeBytes;

    private CommandFuzz() {
        try {
            serving = new Serving(context -> context.maxCommands = 2);
            raw = serving.login("InitialR2T=Yes", "ImmediateData=Yes");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        freeBytes = serving.server.freeBufferBytes();
    }

    /** Runs one input of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] input) {
        ByteBuffer records = ByteBuffer.wrap(input);
        try {
            for (int i = 0; i < MAX_COMMANDS && records.remaining() >= RECORD_BYTES; i++) {
                INSTANCE.tryOut(records);
            }
        } catch (IOException e) {
            throw new AssertionError("the session is lost", e);
        }
        INSTANCE.errors.check();
    }

    private void tryOut(ByteBuffer record) throws IOException {
        int flags = record.get() & 0x60;
        int lun = record.get() & 0xFF;
        byte[] cdb = new byte[16];
        record.get(cdb);
        int length = (record.getShort() & 0xFFFF) * 64;
        int expected = flags == 0 ? 0 : length;
        int immediate = Math.min(record.getShort() & 0xFFFF, expected);
        byte[] data = new byte[(flags & 0x20) != 0 ? immediate : 0];
        Arrays.fill(data, (byte) 0x5A);
        int tag = raw.command(0x01, 0x80 | flags, lun > 3 ? 0 : lun, cdb, expected, data);
        finish(tag, expected);
        await("the memory of the command is free", () -> serving.server.freeBufferBytes() == freeBytes);
    }

    private void finish(int tag, int expected) throws IOException {
        int moved = 0;
        while (true) {
            Reply reply = raw.receive();
            check(reply.tag() == tag, "the target sent a PDU of another task");
            switch (reply.opcode()) {
                case 0x31 -> {
                    int offset = reply.bufferOffset();
                    int wanted = reply.lastField();
                    check(wanted > 0 && offset >= 0 && offset + wanted <= expected,
                        "the target requested more data than the initiator has");
                    raw.dataOut(tag, reply.targetTransferTag(), 0, offset, new byte[wanted], true);
                }
                case 0x25 -> {
                    check(reply.bufferOffset() == moved, "the target sent data out of order");
                    moved += reply.data().length;
                    check(moved <= expected, "the target sent more data than the initiator expected");
                    if ((reply.flags() & 1) != 0) {
                        checkResidual(reply, expected, moved);
                        return;
                    }
                }
                case 0x21 -> {
                    check(reply.u8(2) == 0, "the response reports that the target failed to complete the command");
                    check((reply.u8(3) == 2) == (reply.data().length >= 20),
                        "sense data must accompany CHECK CONDITION and no other status");
                    return;
                }
                default -> check(false, "the target sent the unexpected opcode %02Xh".formatted(reply.opcode()));
            }
        }
    }

    private static void checkResidual(Reply reply, int expected, int moved) {
        int residual = (reply.flags() & 6) == 0 ? 0 : reply.lastField();
        boolean underflow = (reply.flags() & 2) != 0;
        check(moved == (underflow ? expected - residual : expected),
            "the residual does not match the length of the data");
    }

    private static void check(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }
}
