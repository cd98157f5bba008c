package io.modeldisk.protocol.engine;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.access.AddressRange;
import io.modeldisk.protocol.engine.RawInitiator.Reply;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.login.TextConstant;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.pdu.TaskManagementRequestPdu;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the logins that a target accepts or refuses (RFC 7143 sections 6.3, 9.2 and 12.1). */
@Timeout(60)
class TargetAccessTest {
    /** Function authorization failed (RFC 7143 section 11.6.1). */
    private static final int FUNCTION_AUTHORIZATION_FAILED = 6;
    private static final String INITIATOR = "InitiatorName=iqn.test:raw";
    private static final String TARGET = "TargetName=" + MemoryTarget.NAME;
    private static final String SECRET = "aVeryLongSecretOfIts";
    private static final ChapSecrets SECRETS = ChapSecrets.parse("""
        peer learner aVeryLongSecretOfIts
        peer other   anotherVeryLongSecret
        peer watcher theSecretOfTheWatcher may=status
        peer bound   theSecretOfTheBound  iqn.test:bound*
        self shards  theShardsOwnSecret1
        """, "test");

    private final List<RawInitiator> initiators = new ArrayList<>();
    private Serving serving;

    private void serve(AccessPolicy policy) throws IOException {
        serving = new Serving(context -> context.access(policy));
    }

    private void serveWithSecrets() throws IOException {
        serve(new AccessPolicy(SECRETS, false, List.of()));
    }

    private RawInitiator connect() throws IOException {
        RawInitiator initiator = new RawInitiator(serving.server.localAddress());
        initiators.add(initiator);
        return initiator;
    }

    @AfterEach
    void end() throws IOException {
        for (RawInitiator initiator : initiators) {
            initiator.close();
        }
        serving.awaitNothingLeft();
        serving.close();
    }

    /** Performs CHAP and returns the target's response to CHAP_R. */
    private static Reply authenticate(RawInitiator raw, String user, String secret, String... names) throws Exception {
        String[] first = Stream.concat(Stream.of(names), Stream.of("AuthMethod=CHAP,None")).toArray(String[]::new);
        assertThat(raw.login(0, 1, first).text()).containsEntry("AuthMethod", "CHAP");
        Map<String, String> challenge = raw.login(0, -1, "CHAP_A=5").text();
        MessageDigest digest = MessageDigest.getInstance("MD5");
        digest.update((byte) Integer.parseInt(challenge.get("CHAP_I")));
        digest.update(secret.getBytes(StandardCharsets.UTF_8));
        byte[] response = digest.digest(TextConstant.bytes(challenge.get("CHAP_C"), 1024));
        return raw.login(0, 1, "CHAP_N=" + user, "CHAP_R=" + TextConstant.hexadecimal(response));
    }

    private RawInitiator loggedIn(String user, String secret) throws Exception {
        return loggedIn(user, secret, INITIATOR);
    }

    private RawInitiator loggedIn(String user, String secret, String initiator) throws Exception {
        RawInitiator raw = connect();
        assertThat(authenticate(raw, user, secret, initiator, TARGET).loginStatus()).isZero();
        assertThat(raw.login(1, 3).loginStatus()).isZero();
        return raw;
    }

    private IscsiSession login(String secrets) throws IOException {
        return IscsiSession.login(new SessionContext().portal(serving.server.localAddress())
            .targetName(MemoryTarget.NAME).initiator("iqn.test:ours", 1)
            .secrets(secrets == null ? null : ChapSecrets.parse(secrets, "ours")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"self learner aVeryLongSecretOfIts",
        "self learner aVeryLongSecretOfIts\npeer shards theShardsOwnSecret1"})
    void modeldiskInitiatorLogsInWithOneWayAndMutualChap(String secrets) throws IOException {
        serveWithSecrets();
        try (IscsiSession session = login(secrets)) {
            assertThat(session.isOpen()).isTrue();
        }
    }

    @Test
    void initiatorReportsTheReasonOfARefusedLogin() throws IOException {
        serveWithSecrets();
        assertThatThrownBy(() -> login(null)).hasMessageContaining("authentication failed")
            .hasMessageContaining("--secrets");
        assertThatThrownBy(() -> login("self learner notTheSecretOfIts")).hasMessageContaining("authentication failed");
        assertThatThrownBy(() -> login("self learner aVeryLongSecretOfIts\npeer shards anImpostorsSecret"))
            .hasMessageContaining("cannot authenticate itself");
    }

    @Test
    void mutualChapFailsWithATargetWithoutAuthentication() throws IOException {
        serve(AccessPolicy.THIS_MACHINE);
        try (IscsiSession session = login("self learner aVeryLongSecretOfIts")) {
            assertThat(session.isOpen()).isTrue();
        }
        assertThatThrownBy(() -> login("self learner aVeryLongSecretOfIts\npeer shards theShardsOwnSecret1"))
            .hasMessageContaining(" was refused: authentication failed; check the secrets files: ")
            .hasMessageEndingWith(
                " (the target says: this shard has no secrets, so it cannot authenticate itself; start it with --secrets)");
    }

    @Test
    void loginWithAWrongSecretIsRefused() throws Exception {
        serveWithSecrets();
        RawInitiator raw = connect();
        Reply refusal = authenticate(raw, "learner", "notTheSecretOfIts", INITIATOR, TARGET);
        assertThat(refusal.loginStatus()).isEqualTo(0x0201);
        assertThat(refusal.data()).isEmpty();
        assertThat(raw.isClosedByTarget()).isTrue();
        assertThat(serving.target.nexusEvents).isEmpty();
    }

    @Test
    void wrongSecretDoesNotRevealWhetherATargetExists() throws Exception {
        serveWithSecrets();
        String other = "TargetName=iqn.2026-11.io.modeldisk:other";
        assertThat(authenticate(connect(), "learner", "notTheSecretOfIts", INITIATOR, other).loginStatus())
            .isEqualTo(0x0201);
        assertThat(authenticate(connect(), "learner", SECRET, INITIATOR, other).loginStatus()).isEqualTo(0x0203);
    }

    @Test
    void loginWithoutAuthenticationIsRefusedByATargetWithSecrets() throws IOException {
        serveWithSecrets();
        assertThat(connect().login(1, 3, INITIATOR, TARGET).loginStatus()).isEqualTo(0x0201);
        assertThat(connect().login(0, 1, INITIATOR, TARGET).loginStatus()).isEqualTo(0x0201);
        assertThat(connect().login(0, 3, INITIATOR, TARGET, "AuthMethod=None").loginStatus()).isEqualTo(0x0201);
        assertThat(connect().login(1, 3, INITIATOR, "SessionType=Discovery").loginStatus()).isEqualTo(0x0201);
    }

    @Test
    void targetStaysInTheSecurityStageUntilChapCompletes() throws IOException {
        serveWithSecrets();
        RawInitiator raw = connect();
        assertThat(raw.login(0, 3, INITIATOR, TARGET, "AuthMethod=CHAP").flags() & 0x80).isZero();
        assertThat(raw.login(0, 3, "CHAP_A=5").flags() & 0x80).isZero();
        assertThat(raw.login(0, 3).flags() & 0x80).isZero();
        assertThat(raw.login(1, 3).loginStatus()).isEqualTo(0x020B);
    }

    @Test
    void discoverySucceedsAfterAuthentication() throws Exception {
        serveWithSecrets();
        RawInitiator raw = connect();
        authenticate(raw, "learner", SECRET, INITIATOR, "SessionType=Discovery");
        assertThat(raw.login(1, 3).loginStatus()).isZero();
        raw.send(raw.request(0x04, 0x80, 7).putInt(20, RawInitiator.NONE), RawInitiator.text("SendTargets=All"));
        assertThat(raw.receive().text()).containsEntry("TargetName", MemoryTarget.NAME);
    }

    @Test
    void changeOfTheInitiatorNameAfterAuthenticationIsRefused() throws Exception {
        serveWithSecrets();
        RawInitiator raw = connect();
        authenticate(raw, "bound", "theSecretOfTheBound", "InitiatorName=iqn.test:bound1", TARGET);
        assertThat(raw.login(1, 3, INITIATOR).loginStatus()).isEqualTo(0x0200);
    }

    @Test
    void secretBoundToAnInitiatorIsRefusedFromOtherInitiators() throws Exception {
        serveWithSecrets();
        assertThat(authenticate(connect(), "bound", "theSecretOfTheBound", INITIATOR, TARGET).loginStatus())
            .isEqualTo(0x0202);
    }

    @ParameterizedTest
    @ValueSource(strings = {"IQN.test:seven", "iqn.test:Seven", "iqn.test:seven.", "iqn.test:\uFF53even",
        "iqn.test:cafe\u0301", "iqn.test:stra\u00dfe"})
    void initiatorNameThatStringprepWouldChangeIsRefused(String name) throws IOException {
        serve(AccessPolicy.THIS_MACHINE);
        assertThat(connect().login(1, 3, "InitiatorName=" + name, TARGET).loginStatus()).isEqualTo(0x0200);
        assertThat(connect().login(1, 3, "InitiatorName=iqn.test:caf\u00e9", TARGET).loginStatus()).isZero();
    }

    @Test
    void onlyAnAuthenticatedInitiatorReceivesTheReasonOfARefusal() throws Exception {
        serveWithSecrets();
        assertThat(authenticate(connect(), "bound", "theSecretOfTheBound", INITIATOR, TARGET).text())
            .containsEntry("X-io.modeldisk.refusal",
                "its line in the shard's secrets file admits only iqn.test:bound*,"
                    + " so user 'bound' may not log in as initiator iqn.test:raw");
        assertThat(authenticate(connect(), "learner", SECRET, "InitiatorName=iqn.test:bound1", TARGET).text())
            .containsEntry("X-io.modeldisk.refusal",
                "this name is reserved for other users,"
                    + " so user 'learner' may not log in as initiator iqn.test:bound1");
        assertThat(authenticate(connect(), "bound", "theSecretOfTheBound", "InitiatorName=iqn.test:bound1",
            "TargetName=iqn.test:none").text()).hasEntrySatisfying("X-io.modeldisk.refusal",
                reason -> assertThat(reason).contains("the target's name is " + MemoryTarget.NAME));
        Reply unknown = authenticate(connect(), "bound", "notTheSecretOfIts", INITIATOR, TARGET);
        assertThat(unknown.loginStatus()).isEqualTo(0x0201);
        assertThat(unknown.text()).isEmpty();
    }

    @Test
    void onlyTheLogNamesOtherUsersAndTheirPatterns() throws Exception {
        serveWithSecrets();
        loggedIn("bound", "theSecretOfTheBound", "InitiatorName=iqn.test:bound1");
        try (LogLines log = new LogLines(RefusalLog.class)) {
            assertThat(authenticate(connect(), "learner", SECRET, "InitiatorName=iqn.test:bound1", TARGET).text()
                .get("X-io.modeldisk.refusal")).doesNotContain("bound*", "'bound'");
            await("the refusal is logged", () -> !log.lines().isEmpty());
            assertThat(log.lines()).singleElement().asString()
                .contains("another line of the shard's secrets file reserves "
                    + "iqn.test:bound*, so user 'learner' may not log in as initiator iqn.test:bound1");
        }
    }

    @Test
    void longInitiatorNameDoesNotHideTheReasonOfARefusal() throws Exception {
        serveWithSecrets();
        String name = "iqn.test:raw" + "x".repeat(211);
        try (LogLines log = new LogLines(RefusalLog.class)) {
            assertThat(authenticate(connect(), "bound", "theSecretOfTheBound", "InitiatorName=" + name, TARGET).text()
                .get("X-io.modeldisk.refusal"))
                .startsWith("its line in the shard's secrets file admits only iqn.test:bound*");
            assertThat(authenticate(connect(), "learner", SECRET, "InitiatorName=" + name, "TargetName=iqn.test:none")
                .loginStatus()).isEqualTo(0x0203);
            await("the refusal is logged", () -> !log.lines().isEmpty());
            assertThat(log.lines().getFirst()).contains("admits only iqn.test:bound*, so user 'bound'");
        }
    }

    @Test
    void modeldiskInitiatorReportsItsNameAndTheReasonOfARefusal() throws IOException {
        serveWithSecrets();
        assertThatThrownBy(() -> login("self bound theSecretOfTheBound"))
            .hasMessageEndingWith(
                " as initiator iqn.test:ours, user 'bound', was refused: this initiator is not allowed to use the target;"
                    + " the log of the shard has the reason (the target says: its line in the shard's"
                    + " secrets file admits only iqn.test:bound*,"
                    + " so user 'bound' may not log in as initiator iqn.test:ours)");
        assertThatThrownBy(() -> login("self bound notTheSecretOfIts"))
            .hasMessageContaining("as initiator iqn.test:ours, user 'bound', was refused: authentication failed;");
    }

    @Test
    void initiatorNameThatMatchesAnotherUsersPatternIsRefused() throws Exception {
        serveWithSecrets();
        for (String session : List.of(TARGET, "SessionType=Discovery")) {
            assertThat(
                authenticate(connect(), "watcher", "theSecretOfTheWatcher", "InitiatorName=iqn.test:bound1", session)
                    .loginStatus())
                .isEqualTo(0x0202);
        }
        loggedIn("bound", "theSecretOfTheBound", "InitiatorName=iqn.test:bound1");
    }

    @Test
    void targetLimitsTheSessionsOfOneUserAndOfAllUsersThatDoNotLearn() throws Exception {
        serving = new Serving(context -> context.access(new AccessPolicy(ChapSecrets.parse("""
            peer learner aVeryLongSecretOfIts
            peer watcher theSecretOfTheWatcher may=status
            peer viewer  theSecretOfTheViewer  may=status
            """, "test"), false, List.of())).maxConnections(8));
        assertThat(sessionsOf("watcher", "theSecretOfTheWatcher")).as("sessions of one user").isEqualTo(4);
        assertThat(sessionsOf("viewer", "theSecretOfTheViewer"))
            .as("sessions of users that do not learn, up to 6 of 8").isEqualTo(2);
        assertThat(sessionsOf("learner", SECRET)).as("sessions until all 8 are in use").isEqualTo(2);
    }

    /** Logs in until the target refuses a login, and returns the number of sessions. */
    private int sessionsOf(String user, String secret) throws Exception {
        int sessions = 0;
        while (true) {
            RawInitiator raw = connect();
            authenticate(raw, user, secret, "InitiatorName=iqn.test:" + user + sessions, TARGET);
            int status = raw.login(1, 3).loginStatus();
            if (status != 0) {
                assertThat(status).isEqualTo(0x0302);
                return sessions;
            }
            sessions++;
        }
    }

    @Test
    void connectionFromAnAddressOutsideTheAllowListIsClosed() throws IOException {
        serve(new AccessPolicy(null, false, List.of(AddressRange.parse("10.0.0.0/8"))));
        assertThat(connect().isClosedByTarget()).isTrue();
    }

    @Test
    void onlyALoginOfTheSameUserReplacesASession() throws Exception {
        serveWithSecrets();
        RawInitiator raw = loggedIn("learner", SECRET);
        RawInitiator other = connect();
        authenticate(other, "other", "anotherVeryLongSecret", INITIATOR, TARGET);
        try (LogLines log = new LogLines(RefusalLog.class)) {
            Reply refusal = other.login(1, 3);
            assertThat(refusal.loginStatus()).isEqualTo(0x0202);
            assertThat(refusal.text()).containsEntry("X-io.modeldisk.refusal", "this name is reserved for other users");
            await("the refusal is logged", () -> !log.lines().isEmpty());
            assertThat(log.lines().getFirst())
                .contains("user other is not allowed to replace the session of user learner");
        }
        assertThat(raw.ping(RawInitiator.EMPTY).opcode()).isEqualTo(0x20);
        loggedIn("learner", SECRET);
        assertThat(raw.isClosedByTarget()).isTrue();
    }

    /** Sends a read that the logical unit parks, and returns the tag of the read. */
    private int parkedRead(RawInitiator reading) throws IOException {
        // The first command of a session ends with a unit attention.
        reading.run(RawInitiator.NO_DATA, RawInitiator.cdb(0), 0, RawInitiator.EMPTY);
        serving.target.unit.parking = true;
        int tag = reading.command(RawInitiator.READ, RawInitiator.read(0, 1), Serving.BLOCK, RawInitiator.EMPTY);
        await("the read is parked", () -> serving.target.unit.parked.size() == 1);
        return tag;
    }

    @ParameterizedTest
    @ValueSource(ints = {TaskManagementRequestPdu.CLEAR_TASK_SET, TaskManagementRequestPdu.LOGICAL_UNIT_RESET,
        TaskManagementRequestPdu.TARGET_WARM_RESET})
    void abortOfTasksOfOtherSessionsNeedsTheRightToResetTheUnit(int function) throws Exception {
        serveWithSecrets();
        RawInitiator reading = loggedIn("learner", SECRET);
        int tag = parkedRead(reading);
        RawInitiator watching = loggedIn("watcher", "theSecretOfTheWatcher", "InitiatorName=iqn.test:watcher");
        assertThat(watching.manage(function, RawInitiator.NONE))
            .isEqualTo(FUNCTION_AUTHORIZATION_FAILED);
        assertThat(serving.target.unit.parked).as("tasks that the unit still parks").hasSize(1);
        RawInitiator other = loggedIn("other", "anotherVeryLongSecret", "InitiatorName=iqn.test:other");
        assertThat(other.manage(function, RawInitiator.NONE)).isZero();
        assertThat(reading.end(tag).status()).isEqualTo(ScsiStatus.TASK_ABORTED);
    }

    @Test
    void refusedCommandsOfManyConnectionsAreLoggedOnceForAnAddress() throws Exception {
        serveWithSecrets();
        try (LogLines log = new LogLines(RefusalLog.class)) {
            for (int i = 0; i < 3; i++) {
                RawInitiator watching = loggedIn("watcher", "theSecretOfTheWatcher", "InitiatorName=iqn.test:w" + i);
                for (int repetition = 0; repetition < 2; repetition++) {
                    assertThat(watching.manage(TaskManagementRequestPdu.TARGET_WARM_RESET, RawInitiator.NONE))
                        .isEqualTo(FUNCTION_AUTHORIZATION_FAILED);
                }
            }
            assertThat(log.lines()).singleElement().asString()
                .startsWith("a command from 127.0.0.1 was refused: ").contains("user 'watcher'");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {TaskManagementRequestPdu.ABORT_TASK, TaskManagementRequestPdu.ABORT_TASK_SET})
    void everyInitiatorCanAbortItsOwnTasks(int function) throws Exception {
        serveWithSecrets();
        RawInitiator watching = loggedIn("watcher", "theSecretOfTheWatcher");
        assertThat(watching.manage(function, parkedRead(watching))).isZero();
        assertThat(serving.target.unit.parked).as("tasks that the unit still parks").isEmpty();
    }

    @Test
    void unauthenticatedConnectionsOccupyNoBuffers() throws IOException {
        serveWithSecrets();
        RawInitiator raw = connect();
        raw.login(0, -1, INITIATOR, TARGET, "AuthMethod=CHAP");
        assertThat(serving.server.freeBufferBytes()).isEqualTo(serving.allBufferBytes);
    }

    @Test
    void loginBeyondTheSessionLimitIsRefusedUnlessItReplacesASession() throws IOException {
        serving = new Serving(context -> context.maxConnections(1));
        RawInitiator first = connect();
        assertThat(first.login(1, 3, INITIATOR, TARGET).loginStatus()).isZero();
        assertThat(connect().login(1, 3, "InitiatorName=iqn.test:more", TARGET).loginStatus()).isEqualTo(0x0302);
        assertThat(connect().login(1, 3, INITIATOR, TARGET).loginStatus()).isZero();
        assertThat(first.isClosedByTarget()).isTrue();
    }

    @Test
    void discoveryReportsThePortalGroupOfEachAddress() throws IOException {
        List<InetSocketAddress> all = List.of(new InetSocketAddress("127.0.0.1", 22001),
            new InetSocketAddress("::1", 22002));
        serving = new Serving(context -> context.portals(new Portals(2, all)));
        RawInitiator discovery = connect();
        discovery.login(1, 3, INITIATOR, "SessionType=Discovery");
        discovery.send(discovery.request(0x04, 0x80, 7).putInt(20, RawInitiator.NONE),
            RawInitiator.text("SendTargets=All"));
        assertThat(new String(discovery.receive().data(), StandardCharsets.UTF_8).split("\0")).containsExactly(
            "TargetName=" + MemoryTarget.NAME, "TargetAddress=127.0.0.1:22001,1",
            "TargetAddress=[0:0:0:0:0:0:0:1]:22002,2");
        assertThat(connect().login(1, 3, INITIATOR, TARGET).text()).containsEntry("TargetPortalGroupTag", "2");
    }

    @Test
    void discoveryOverAWildcardListenerReportsTheConnectedAddress() throws IOException {
        serving = new Serving(context -> context.listen(new InetSocketAddress("0.0.0.0", 0))
            .access(new AccessPolicy(null, true, List.of())));
        int port = serving.server.localAddress().getPort();
        RawInitiator raw = new RawInitiator(new InetSocketAddress("127.0.0.1", port));
        initiators.add(raw);
        raw.login(1, 3, INITIATOR, "SessionType=Discovery");
        raw.send(raw.request(0x04, 0x80, 7).putInt(20, RawInitiator.NONE), RawInitiator.text("SendTargets=All"));
        assertThat(raw.receive().text()).containsEntry("TargetAddress", "127.0.0.1:" + port + ",1");
    }
}
