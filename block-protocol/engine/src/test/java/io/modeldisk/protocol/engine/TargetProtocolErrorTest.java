package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.protocol.engine.RawInitiator.NO_DATA;
import static io.modeldisk.test.Await.await;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.RawInitiator.Reply;
import io.modeldisk.protocol.pdu.Opcode;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests of initiators that violate the protocol. The target rejects the invalid PDU or closes the session. Other sessions
 * continue, and no resource leaks.
 */
class TargetProtocolErrorTest extends ServedTarget {
    private RawInitiator other;

    @Override
    @BeforeEach
    void serve() throws IOException {
        serving = new Serving(context -> context.transferTimeout = Duration.ofSeconds(1));
        raw = serving.login();
        other = serving.loginAs("iqn.test:other");
    }

    @Override
    @AfterEach
    void end() throws IOException {
        assertThat(other.testUnitReady().status()).as("status in the other session").isZero();
        other.close();
        super.end();
    }

    @Test
    void connectionWithAnIncompleteHeaderIsClosedAfterTheTransferTimeout() throws IOException {
        raw.sendBytes(new byte[20]);
        assertThat(raw.isClosedByTarget()).isTrue();
    }

    @Test
    void connectionWithIncompleteDataIsClosedAfterTheTransferTimeout() throws IOException {
        raw.sendBytes(raw.request(0x40, 0x80, 1).putInt(4, 1000).array());
        raw.sendBytes(new byte[500]);
        assertThat(raw.isClosedByTarget()).isTrue();
    }

    @Test
    void connectionClosedInTheMiddleOfAPduLeavesNoResources() throws IOException {
        raw.sendBytes(raw.request(0x40, 0x80, 1).putInt(4, 1000).array());
        raw.sendBytes(new byte[500]);
        raw.socket.shutdownOutput();
        assertThat(raw.isClosedByTarget()).isTrue();
    }

    @Test
    void commandInTwoTcpSegmentsCausesNoTransferTimeout() throws IOException {
        byte[] command = raw.request(0x01, NO_DATA, 1).array();
        raw.sendBytes(Arrays.copyOf(command, 20));
        assertThat(other.ping(EMPTY).opcode()).isEqualTo(Opcode.NOP_IN);
        raw.sendBytes(Arrays.copyOfRange(command, 20, 48));
        assertThat(raw.end(1).status()).isZero();
        raw.socket.setSoTimeout(2500);
        assertThat(raw.isClosedByTarget()).isFalse();
    }

    @Test
    void commandWithAnAdditionalHeaderSegmentCausesNoTransferTimeout() throws IOException {
        raw.sendBytes(raw.request(0x01, NO_DATA, 1).put(4, (byte) 2).array());
        raw.sendBytes(new byte[8]);
        assertThat(raw.end(1).status()).isZero();
        raw.socket.setSoTimeout(2500);
        assertThat(raw.isClosedByTarget()).isFalse();
    }

    @Test
    void missingWriteDataClosesTheConnectionAfterTheTransferTimeout() throws IOException {
        raw.command(RawInitiator.WRITE, RawInitiator.write(0, 1), 4096, EMPTY);
        assertThat(raw.receive().opcode()).as("R2T").isEqualTo(Opcode.R2T);
        assertThat(raw.isClosedByTarget()).isTrue();
    }

    @Test
    void initiatorThatStopsReceivingIsDisconnectedAfterTheTransferTimeout() throws IOException {
        try (RawInitiator deaf = serving.loginAs("iqn.test:deaf")) {
            for (int i = 0; i < 2; i++) {
                deaf.command(RawInitiator.READ, RawInitiator.read(0, 1024), 4 << 20, EMPTY);
            }
            await("the initiator that does not receive is disconnected", () -> serving.server.connectionCount() == 2);
        }
    }

    @Test
    void commandBeyondTheCommandWindowIsIgnored() throws IOException {
        raw.ping(EMPTY);
        raw.send(RawInitiator.header(0x01, NO_DATA).putInt(16, 9).putInt(24, raw.maxCmdSn + 1), EMPTY);
        assertThat(raw.ping(EMPTY).opcode()).as("only the ping gets a response").isEqualTo(Opcode.NOP_IN);
        assertThat(raw.testUnitReady().status()).isZero();
    }

    @Test
    void commandBeyondAFullCommandWindowIsIgnored() throws IOException {
        serving.target.unit.parking = true;
        raw.ping(EMPTY);
        while (raw.cmdSn <= raw.maxCmdSn) {
            raw.command(RawInitiator.READ, RawInitiator.read(0, 1), 4096, EMPTY);
        }
        raw.send(RawInitiator.header(0x01, NO_DATA).putInt(16, 9).putInt(24, raw.maxCmdSn + 2), EMPTY);
        assertThat(raw.ping(EMPTY).opcode()).as("only the ping gets a response").isEqualTo(Opcode.NOP_IN);
    }

    @Test
    void commandWithAnEarlierCmdSnIsIgnored() throws IOException {
        raw.testUnitReady();
        raw.send(RawInitiator.header(0x01, NO_DATA).putInt(16, 9).putInt(24, raw.cmdSn - 1), EMPTY);
        assertThat(raw.ping(EMPTY).opcode()).as("only the ping gets a response").isEqualTo(Opcode.NOP_IN);
    }

    @Test
    void immediateCommandDoesNotAdvanceExpCmdSn() throws IOException {
        raw.end(raw.command(0x41, NO_DATA, 0, RawInitiator.cdb(0), 0, EMPTY));
        assertThat(raw.testUnitReady().last().expCmdSn()).as("ExpCmdSN").isEqualTo(raw.cmdSn);
    }

    @Test
    void immediateCommandWithoutASlotEndsWithTaskSetFull() throws IOException {
        serving.target.unit.parking = true;
        raw.ping(EMPTY);
        while (raw.cmdSn <= raw.maxCmdSn) {
            raw.command(RawInitiator.READ, RawInitiator.read(0, 1), 4096, EMPTY);
        }
        int tag = raw.command(0x41, NO_DATA, 0, RawInitiator.cdb(0), 0, EMPTY);
        assertThat(raw.end(tag).status()).as("TASK SET FULL").isEqualTo(0x28);
    }

    @Test
    void commandEndsWithTaskSetFullIfAnImmediateCommandOccupiesItsSlot() throws IOException {
        serving.target.unit.parking = true;
        raw.ping(EMPTY);
        raw.command(0x41, RawInitiator.READ, 0, RawInitiator.read(0, 1), 4096, EMPTY);
        int tag = 0;
        while (raw.cmdSn <= raw.maxCmdSn) {
            tag = raw.command(RawInitiator.READ, RawInitiator.read(0, 1), 4096, EMPTY);
        }
        assertThat(raw.end(tag).status()).as("TASK SET FULL").isEqualTo(0x28);
    }

    @Test
    void responseToAPingContainsTheDataOfThePing() throws IOException {
        byte[] data = random(101, 1);
        Reply reply = raw.ping(data);
        assertThat(reply.opcode()).isEqualTo(Opcode.NOP_IN);
        assertThat(reply.data()).isEqualTo(data);
    }

    @Test
    void connectionIsClosedAfterTheLogoutResponse() throws IOException {
        raw.send(raw.request(0x46, 0x80, 5), EMPTY);
        Reply reply = raw.receive();
        assertThat(reply.opcode()).isEqualTo(Opcode.LOGOUT_RESPONSE);
        assertThat(raw.isClosedByTarget()).isTrue();
        await("the nexus is logged out",
            () -> serving.target.nexusEvents.contains("logged out iqn.test:raw"));
    }

    @Test
    void statSnIncreasesByOneForEachResponse() throws IOException {
        int first = raw.testUnitReady().last().statSn();
        raw.ping(EMPTY);
        assertThat(raw.testUnitReady().last().statSn()).isEqualTo(first + 2);
    }

    @Test
    void loginRequestAfterTheLoginClosesTheConnection() throws IOException {
        raw.send(raw.loginHeader(1, 3), EMPTY);
        assertThat(raw.isClosedByTarget()).isTrue();
    }

    @Test
    void shorterSilenceLimitOfATargetReplacesTheServerLimit() throws Exception {
        try (Serving serving = new Serving()) {
            serving.target.silenceBoundNs = TimeUnit.SECONDS.toNanos(1);
            try (RawInitiator silent = serving.login()) {
                assertThat(silent.receive().opcode()).as("a ping").isEqualTo(Opcode.NOP_IN);
                assertThat(silent.isClosedByTarget()).isTrue();
            }
            serving.awaitNothingLeft();
            assertThat(serving.target.nexusEvents).extracting(event -> event.replaceFirst(" .*", ""))
                .containsExactly("established", "silent", "lost");
        }
    }

    @Test
    void initiatorIsNotReportedAsSilentWhileItsLongCommandRuns() throws Exception {
        try (Serving serving = new Serving()) {
            long bound = TimeUnit.MILLISECONDS.toNanos(300);
            serving.target.silenceBoundNs = bound;
            serving.target.unit.filling = () -> {
                long begun = System.nanoTime();
                while (System.nanoTime() - begun < 3 * bound) {
                    Thread.onSpinWait();
                }
            };
            try (RawInitiator busy = serving.login()) {
                int tag = busy.command(RawInitiator.WRITE, RawInitiator.cdb16(0x93, 0, 1), Serving.BLOCK,
                    new byte[Serving.BLOCK]);
                assertThat(busy.end(tag).status()).isZero();
            }
            serving.awaitNothingLeft();
            assertThat(serving.target.nexusEvents).noneMatch(event -> event.startsWith("silent"));
        }
    }

    @Test
    void serverAcceptsConnectionsAfterAThreadFailedToStart() throws IOException {
        boolean[] failed = new boolean[1];
        try (Serving fragile = new Serving(context -> context.threadFactory = work -> {
            if (!failed[0]) {
                failed[0] = true;
                throw new OutOfMemoryError("the test simulates that no thread can be started");
            }
            return Thread.ofPlatform().daemon().unstarted(work);
        }); RawInitiator first = new RawInitiator(fragile.server.localAddress())) {
            assertThat(first.isClosedByTarget()).isTrue();
            try (RawInitiator second = fragile.login()) {
                assertThat(second.ping(EMPTY).opcode()).isEqualTo(Opcode.NOP_IN);
            }
            fragile.awaitNothingLeft();
        }
    }
}
