package io.modeldisk.protocol.engine;

import static io.modeldisk.test.Await.await;

import io.modeldisk.protocol.engine.RawInitiator.Reply;
import io.modeldisk.test.ErrorLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Sends random commands over a correct session. Every command must end with a status, move no more than expected, and report the
 * right residual.
 *
 * <p>An input is commands of 22 bytes each: flags, the LUN, 16 bytes of CDB, two of the expected length in units of 64 bytes, two
 * of the length of the immediate data.
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
            serving = new Serving(context -> context.maxCommands(2));
            raw = serving.login("InitialR2T=Yes", "ImmediateData=Yes");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        freeBytes = serving.server.freeBufferBytes();
    }

    /** The entry point of the fuzzer. */
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
        await("its memory comes back", () -> serving.server.freeBufferBytes() == freeBytes);
    }

    private void finish(int tag, int expected) throws IOException {
        int moved = 0;
        while (true) {
            Reply reply = raw.receive();
            check(reply.tag() == tag, "a PDU of another task");
            switch (reply.opcode()) {
                case 0x31 -> {
                    int offset = reply.bufferOffset();
                    int wanted = reply.lastField();
                    check(wanted > 0 && offset >= 0 && offset + wanted <= expected, "asks for more than there is");
                    raw.dataOut(tag, reply.targetTransferTag(), 0, offset, new byte[wanted], true);
                }
                case 0x25 -> {
                    check(reply.bufferOffset() == moved, "data out of order");
                    moved += reply.data().length;
                    check(moved <= expected, "more data than was expected");
                    if ((reply.flags() & 1) != 0) {
                        checkResidual(reply, expected, moved);
                        return;
                    }
                }
                case 0x21 -> {
                    check(reply.u8(2) == 0, "a response that is no status");
                    check((reply.u8(3) == 2) == (reply.data().length >= 20),
                        "sense with CHECK CONDITION and only then");
                    return;
                }
                default -> check(false, "opcode %02Xh".formatted(reply.opcode()));
            }
        }
    }

    private static void checkResidual(Reply reply, int expected, int moved) {
        int residual = (reply.flags() & 6) == 0 ? 0 : reply.lastField();
        boolean underflow = (reply.flags() & 2) != 0;
        check(moved == (underflow ? expected - residual : expected), "a residual that does not fit what was moved");
    }

    private static void check(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }
}
