package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.Isid;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.consistency.Learner;
import io.modeldisk.server.fake.Roles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * Sessions of users that have only one right each. They log in to every process of a shard of model {@code m}, under each
 * initiator name that a job uses: the names of the learners, of an observer and of the primaries.
 */
final class Strangers implements AutoCloseable {
    /** The initiator name that only user {@code learner} may use. */
    static final String LEARNER = "iqn.2026-11.io.modeldisk.learner:learner";

    private final List<IscsiSession> sessions = new CopyOnWriteArrayList<>();
    private final DataMemory memory = DataMemory.allocate(JoinCommand.DATA_BYTES);

    /**
     * For each right, logs in to each server under each initiator name of the job. Under the name of a learner, uses the ISID of
     * the learner and another ISID. Each session tries to join, and stays open.
     *
     * @param primaries the names with which the processes log in to each other
     */
    void logInEverywhere(List<ParameterServer> servers, List<String> primaries) throws Exception {
        List<Nexus> nexuses = servers.stream()
            .flatMap(each -> each.shard().learners().roster().members().stream().map(Learner::key)).toList();
        List<Callable<Void>> logins = new ArrayList<>();
        for (ParameterServer server : servers) {
            for (Right right : Right.values()) {
                for (Nexus nexus : nexuses) {
                    logins.add(() -> logIn(server, right, nexus.initiatorName(), nexus.isid()));
                }
                logins.add(() -> logIn(server, right, LEARNER, Isid.random()));
                logins.add(() -> logIn(server, right, ChapSecrets.OBSERVER_INITIATOR + "1", Isid.random()));
                for (String primary : primaries) {
                    logins.add(() -> logIn(server, right, ChapSecrets.PRIMARY_INITIATOR + primary, Isid.random()));
                }
            }
        }
        // The logins run in parallel, because the response to each refused login is delayed.
        Roles.runAll(logins);
        assertThat(sessions).isNotEmpty();
    }

    private Void logIn(ParameterServer server, Right right, String name, long isid) throws Exception {
        IscsiSession session;
        try {
            session = IscsiSession.login(new SessionContext().portal(server.localAddress())
                .targetName(ModelFacts.TARGET_PREFIX + "m").initiator(name, isid).learner("learner")
                .secrets(ChapSecrets.parse("self " + right + " theSecretOf-" + right, "test")));
        } catch (IOException e) {
            // This user is not allowed to use the name.
            return null;
        }
        sessions.add(session);
        assertThat(name).as("name of a session of a user with the right " + right).isNotEqualTo(LEARNER);
        // The first command of a session ends with a unit attention, so a second one follows.
        for (int i = 0; i < 2 && session.isOpen(); i++) {
            CompletableFuture<Boolean> joined = new CompletableFuture<>();
            session.submit(session.acquire(TimeUnit.SECONDS.toNanos(20))
                .control(0, JoinCommand.cdb(0, true), memory, 0, JoinCommand.DATA_BYTES)
                .onCompletion(done -> joined.complete(done.isGood())));
            assertThat(joined.get(20, TimeUnit.SECONDS)).as(right + " joins as " + name).isFalse();
        }
        return null;
    }

    @Override
    public void close() {
        sessions.forEach(IscsiSession::close);
        memory.close();
    }
}
