package io.modeldisk.protocol.initiator;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.test.ErrorLog;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Sends the fuzzer's input from a target to the initiator. Every command in flight must complete exactly once, within a limited
 * time, and the initiator must change no memory except that of its reads.
 *
 * <p>The first byte of an input holds the flags {@link #LOG_IN}, {@link #DIGESTS} and {@link #MEND}. The target sends the
 * remaining bytes.
 */
public final class SessionFuzz {
    static final int LOG_IN = 1;
    static final int DIGESTS = 2;
    /** If this flag is set, the target corrects the lengths and digests of all PDUs in the input. */
    static final int MEND = 4;

    private static final int READ_OFFSET = 4096;
    private static final int READ_BYTES = 4096;
    private static final int WRITE_OFFSET = 16384;
    private static final int WRITE_BYTES = 1 << 16;
    private static final byte UNTOUCHED = 0x33;
    private static final long SECOND = 1_000_000_000;
    private static final SessionFuzz INSTANCE = new SessionFuzz();

    private final ErrorLog errors = new ErrorLog();
    private final DataMemory memory = DataMemory.allocate(WRITE_OFFSET + WRITE_BYTES);

    private SessionFuzz() {}

    /** Runs the fuzz target with one input of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length > 0) {
            INSTANCE.tryOut(input[0], Arrays.copyOfRange(input, 1, input.length));
        }
    }

    private void tryOut(int mode, byte[] bytes) {
        AtomicInteger ends = new AtomicInteger();
        int submitted = 0;
        memory.slab(0).fill(UNTOUCHED);
        try (ScriptedTarget target = new ScriptedTarget()) {
            Digest digest = (mode & DIGESTS) != 0 ? Digest.CRC32C : Digest.NONE;
            CompletableFuture<Void> played = CompletableFuture.runAsync(() -> play(target, mode, bytes));
            try (IscsiSession session = IscsiSession.login(new SessionContext().portal(target.address())
                .targetName("iqn.test:hostile").initiator("iqn.test:initiator", 1).queueDepth(4)
                .connectTimeout(Duration.ofSeconds(10)).commandTimeout(Duration.ofSeconds(10))
                .digests(digest, digest))) {
                submitted += submit(session, ends, false);
                submitted += submit(session, ends, true);
                int all = submitted;
                await("every command completes", () -> ends.get() == all);
            } catch (IOException e) {
                // The login can fail, because the input need not be a valid Login response.
            }
            played.get(10, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError("the session was not closed in time", e);
        }
        assertThat(ends.get()).as("completions of the submitted commands").isEqualTo(submitted);
        checkMemory(0, READ_OFFSET);
        checkMemory(READ_OFFSET + READ_BYTES, (int) memory.bytes());
        errors.check();
    }

    /** Submits a command and returns the number of submitted commands, 0 or 1. */
    private int submit(IscsiSession session, AtomicInteger ends, boolean write) {
        try {
            IoRequest request = session.acquire(SECOND);
            if (request == null) {
                return 0;
            }
            if (write) {
                request.write(0, 0, WRITE_BYTES / 4096, memory, WRITE_OFFSET, WRITE_BYTES);
            } else {
                request.read(0, 0, READ_BYTES / 4096, memory, READ_OFFSET, READ_BYTES);
            }
            session.submit(request.onCompletion(_ -> ends.incrementAndGet()));
            return 1;
        } catch (IOException e) {
            return 0;
        }
    }

    private static void play(ScriptedTarget target, int mode, byte[] bytes) {
        try {
            if ((mode & LOG_IN) != 0) {
                String digest = (mode & DIGESTS) != 0 ? "CRC32C" : "None";
                target.acceptLogin("InitialR2T=No", "ImmediateData=Yes", "FirstBurstLength=8192",
                    "MaxRecvDataSegmentLength=8192", "HeaderDigest=" + digest, "DataDigest=" + digest);
                // The target sends the input after it has received the commands, so the input can affect the commands.
                target.receive();
                target.receive();
            } else {
                target.accept();
            }
            target.sendBytes((mode & MEND) != 0 ? mended(target, bytes) : bytes);
            target.drain();
        } catch (SocketException e) {
            // The initiator can close the connection before the target has sent all input.
        } catch (IOException e) {
            throw new AssertionError("the initiator did not close the connection in time", e);
        }
    }

    private static byte[] mended(ScriptedTarget target, byte[] bytes) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        int at = 0;
        while (at + 48 <= bytes.length) {
            ByteBuffer header = ByteBuffer.wrap(Arrays.copyOfRange(bytes, at, at + 48));
            at += 48;
            int length = Math.min(header.getInt(4) & 0x3FFF, bytes.length - at);
            all.writeBytes(target.encode(header, Arrays.copyOfRange(bytes, at, at + length)));
            at += length;
        }
        return all.toByteArray();
    }

    private void checkMemory(int from, int to) {
        assertThat(memory.segment(from, to - from).mismatch(MemorySegment.ofArray(new byte[to - from]).fill(UNTOUCHED)))
            .as("offset from byte %d of a byte that the initiator changed outside its reads", from).isEqualTo(-1);
    }
}
