package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.protocol.engine.RawInitiator.READ;
import static io.modeldisk.protocol.engine.RawInitiator.WRITE;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of responses that the target sends together. The target must not hold back a response while the initiator might be
 * waiting for it.
 */
class TargetBatchingTest extends ServedTarget {
    private static final int COMMANDS = 8;

    private void logIn(String digest) throws IOException {
        serving = new Serving();
        raw = serving.login("HeaderDigest=" + digest, "DataDigest=" + digest, "ImmediateData=Yes",
            "MaxRecvDataSegmentLength=65536");
        // The target can add a slot whenever a command completes, so these commands enlarge the command window.
        for (int i = 0; i < 4 * COMMANDS; i++) {
            raw.run(RawInitiator.NO_DATA, new byte[16], 0, EMPTY);
        }
    }

    private byte[] command(int flags, byte[] cdb, int bytes, byte[] data) {
        ByteBuffer header = raw.request(0x01, flags | 1, raw.newTag()).putInt(20, bytes).put(32, cdb);
        return raw.encode(header.putInt(4, data.length), data);
    }

    @ParameterizedTest
    @ValueSource(strings = {"None", "CRC32C"})
    void commandsThatAreSentTogetherAllComplete(String digest) throws IOException {
        logIn(digest);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] data = random(COMMANDS * BLOCK, 1);
        int first = raw.newTag() + 1;
        for (int i = 0; i < COMMANDS; i++) {
            byte[] part = Arrays.copyOfRange(data, i * BLOCK, (i + 1) * BLOCK);
            all.writeBytes(command(WRITE, RawInitiator.write(i, 1), BLOCK, part));
            all.writeBytes(command(READ, RawInitiator.read(i, 1), BLOCK, EMPTY));
        }
        raw.sendBytes(all.toByteArray());
        for (int i = 0; i < COMMANDS; i++) {
            assertThat(raw.end(first + 2 * i).status()).isZero();
            assertThat(raw.end(first + 2 * i + 1).data())
                .isEqualTo(Arrays.copyOfRange(data, i * BLOCK, (i + 1) * BLOCK));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 47, 48, 52, 2000})
    void responsesAreSentBeforeTheTargetWaitsForAnIncompleteCommand(int bytesOfNext) throws IOException {
        logIn("None");
        byte[] data = random(BLOCK, 2);
        int first = raw.newTag() + 1;
        byte[] write = command(WRITE, RawInitiator.write(0, 1), BLOCK, data);
        byte[] read = command(READ, RawInitiator.read(0, 1), BLOCK, EMPTY);
        byte[] next = command(WRITE, RawInitiator.write(1, 1), BLOCK, data);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(write);
        all.writeBytes(read);
        all.write(next, 0, bytesOfNext);
        raw.sendBytes(all.toByteArray());
        assertThat(raw.end(first).status()).isZero();
        assertThat(raw.end(first + 1).data()).isEqualTo(data);
        raw.sendBytes(Arrays.copyOfRange(next, bytesOfNext, next.length));
        assertThat(raw.end(first + 2).status()).isZero();
    }
}
