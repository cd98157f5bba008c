package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.test.Await.await;
import static io.modeldisk.test.RandomBytes.random;

import io.modeldisk.protocol.engine.RawInitiator.End;
import io.modeldisk.test.ErrorLog;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Sends random bytes to a target over a separate connection. An input must not stop the process, stop a thread, leak memory, or
 * disturb another session.
 *
 * <p>The first byte of an input selects the kind of connection. The other bytes are sent over the connection.
 */
public final class ConnectionFuzz {
    static final int LOG_IN = 1;
    static final int DISCOVERY = 2;
    static final int HEADER_DIGEST = 4;
    static final int DATA_DIGEST = 8;
    /**
     * The flag that makes the fuzzer correct CmdSN, length and digests of each PDU, so the target examines the contents of the
     * PDU.
     */
    static final int MEND = 16;

    private static final ConnectionFuzz INSTANCE = new ConnectionFuzz();

    private final ErrorLog errors = new ErrorLog();
    private final Serving serving;
    private final RawInitiator innocent;
    private final long freeBytes;
    private int round;

    private ConnectionFuzz() {
        try {
            serving = new Serving(context -> context.maxConnections(4).maxFailureDelay(Duration.ZERO)
                .bufferBytes(80L * BufferPool.CHUNK_BYTES).maxCommands = 8);
            innocent = serving.loginAs("iqn.test:innocent", "InitialR2T=No", "ImmediateData=Yes");
            for (int i = 0; i < 20; i++) {
                good(RawInitiator.READ, RawInitiator.read(0, 1), EMPTY);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        freeBytes = serving.server.freeBufferBytes();
    }

    /** Runs one input of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length > 0) {
            INSTANCE.tryOut(input);
        }
    }

    private void tryOut(byte[] input) {
        try {
            converse(input[0], Arrays.copyOfRange(input, 1, input.length));
            await("the fuzzed connection is closed", () -> serving.server.connectionCount() == 1);
            await("the memory of the fuzzed connection is free", () -> serving.server.freeBufferBytes() == freeBytes);
            checkInnocent();
        } catch (IOException e) {
            throw new AssertionError("the other session failed, or the fuzzed connection was not closed", e);
        }
        errors.check();
    }

    private void converse(int mode, byte[] bytes) throws IOException {
        try (RawInitiator raw = new RawInitiator(serving.server.localAddress())) {
            if ((mode & LOG_IN) != 0) {
                logIn(raw, mode);
            }
            raw.sendBytes((mode & MEND) != 0 ? mended(raw, bytes) : bytes);
            raw.socket.shutdownOutput();
            InputStream answers = raw.socket.getInputStream();
            byte[] buffer = new byte[65536];
            while (answers.read(buffer) >= 0) {
                // The contents of the responses are not checked.
            }
        } catch (SocketException e) {
            // The target is allowed to close the connection before all bytes are sent.
        }
    }

    private static void logIn(RawInitiator raw, int mode) throws IOException {
        List<String> keys = new ArrayList<>(List.of("InitiatorName=iqn.test:fuzz", "InitialR2T=No", "ImmediateData=Yes",
            "FirstBurstLength=8192", "MaxRecvDataSegmentLength=8192",
            "HeaderDigest=" + ((mode & HEADER_DIGEST) != 0 ? "CRC32C" : "None"),
            "DataDigest=" + ((mode & DATA_DIGEST) != 0 ? "CRC32C" : "None")));
        keys.add((mode & DISCOVERY) != 0 ? "SessionType=Discovery" : "TargetName=" + MemoryTarget.NAME);
        raw.login(1, 3, keys.toArray(String[]::new));
        raw.headerDigests = (mode & HEADER_DIGEST) != 0;
        raw.dataDigests = (mode & DATA_DIGEST) != 0;
    }

    /** Splits bytes into PDUs, and corrects CmdSN, length and digests of each PDU. Returns the corrected bytes. */
    private static byte[] mended(RawInitiator raw, byte[] bytes) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        int at = 0;
        while (at + 48 <= bytes.length) {
            ByteBuffer header = ByteBuffer.wrap(Arrays.copyOfRange(bytes, at, at + 48));
            at += 48;
            int length = Math.min(header.getInt(4) & 0x3FFF, bytes.length - at);
            header.putInt(4, length);
            int opcode = header.get(0) & 0x3F;
            if (opcode != 0x05 && opcode != 0x10) {
                boolean immediate = (header.get(0) & 0x40) != 0;
                header.putInt(24, immediate ? raw.cmdSn : raw.cmdSn++);
            }
            all.writeBytes(raw.encode(header, Arrays.copyOfRange(bytes, at, at + length)));
            at += length;
        }
        all.write(bytes, at, bytes.length - at);
        return all.toByteArray();
    }

    private void checkInnocent() throws IOException {
        byte[] data = random(Serving.BLOCK, round++);
        good(RawInitiator.WRITE, RawInitiator.write(7, 1), data);
        if (!Arrays.equals(good(RawInitiator.READ, RawInitiator.read(7, 1), EMPTY).data(), data)) {
            throw new AssertionError("the other session read data that differs from the data it had written");
        }
    }

    private End good(int flags, byte[] cdb, byte[] data) throws IOException {
        End end = innocent.run(flags, cdb, Serving.BLOCK, data);
        if (end.status() == 2 && end.senseCode() >>> 16 == 6) {
            // The fuzzed session might have reset the logical unit.
            end = innocent.run(flags, cdb, Serving.BLOCK, data);
        }
        if (end.status() != 0) {
            throw new AssertionError("a command of the other session ended with status " + end.status());
        }
        return end;
    }
}
