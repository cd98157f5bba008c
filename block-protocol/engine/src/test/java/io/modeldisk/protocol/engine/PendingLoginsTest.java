package io.modeldisk.protocol.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.engine.PendingLogins.Login;
import io.modeldisk.protocol.engine.PendingLogins.Waiting;
import io.modeldisk.test.ManualClock;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of connections that have not logged in, with a limit of eight such connections. */
class PendingLoginsTest {
    private static final int LIMIT = 8;
    private static final InetAddress FLOOD = InetAddress.ofLiteral("10.0.0.1");
    private static final InetAddress LEARNER = InetAddress.ofLiteral("10.0.0.2");

    private final ManualClock clock = new ManualClock();
    private final PendingLogins logins = new PendingLogins(LIMIT, clock);
    private final List<Login> refused = new ArrayList<>();

    private Login connect(InetAddress address) {
        Login login = logins.admit(address);
        if (login != null) {
            logins.served(login, () -> refused.add(login));
        }
        return login;
    }

    private Login[] connect(InetAddress address, int count) {
        Login[] all = new Login[count];
        for (int i = 0; i < count; i++) {
            all[i] = connect(address);
            assertThat(all[i]).isNotNull();
        }
        return all;
    }

    private static Waiting waiting(InetAddress address) {
        return new Waiting(new FakeIncoming(address), "tcp");
    }

    @Test
    void connectionWaitsIfItsAddressHasHalfOfTheAllowedPendingLogins() {
        connect(FLOOD, LIMIT / 2);
        assertThat(connect(FLOOD)).isNull();
        connect(LEARNER, LIMIT / 2);
        assertThat(refused).isEmpty();
    }

    @Test
    void connectionWithoutALoginRequestIsReplacedAfterItsGracePeriod() {
        Login[] silent = connect(FLOOD, LIMIT / 2);
        silent[0].requested();
        clock.advance(PendingLogins.REQUEST_GRACE);
        assertThat(connect(FLOOD)).isNotNull();
        assertThat(refused).containsExactly(silent[1]);
    }

    @Test
    void slowLoginIsReplacedByANewConnectionAfterItsGracePeriod() {
        Login[] slow = connect(FLOOD, LIMIT / 2);
        for (Login login : slow) {
            login.requested();
        }
        clock.advance(PendingLogins.REQUEST_GRACE);
        assertThat(connect(FLOOD)).isNull();
        clock.advance(PendingLogins.LOGIN_GRACE);
        assertThat(connect(FLOOD)).isNotNull();
        assertThat(refused).containsExactly(slow[0]);
    }

    @Test
    void newConnectionAtTheLimitReplacesAConnectionOfTheAddressWithMostConnections() {
        Login[] flood = connect(FLOOD, LIMIT / 2);
        for (int i = 0; i < LIMIT / 2; i++) {
            connect(InetAddress.ofLiteral("10.0.1." + i));
        }
        clock.advance(PendingLogins.REQUEST_GRACE);
        assertThat(connect(LEARNER)).isNotNull();
        assertThat(refused).containsExactly(flood[0]);
    }

    @Test
    void newestWaitingConnectionIsServedFirst() {
        Login[] flood = connect(FLOOD, LIMIT / 2);
        Waiting first = waiting(FLOOD);
        Waiting second = waiting(FLOOD);
        assertThat(logins.await(first)).isNull();
        assertThat(logins.await(second)).isNull();
        assertThat(logins.next()).isNull();
        logins.remove(flood[0]);
        assertThat(logins.next().waited()).isSameAs(second);
        logins.remove(flood[1]);
        assertThat(logins.next().waited()).isSameAs(first);
        logins.remove(flood[2]);
        assertThat(logins.next()).isNull();
    }

    @Test
    void oldestConnectionOfTheAddressWithMostConnectionsIsRefusedIfTooManyConnectionsWait() {
        connect(FLOOD, LIMIT / 2);
        Waiting learner = waiting(LEARNER);
        Waiting oldest = waiting(FLOOD);
        assertThat(logins.await(learner)).isNull();
        assertThat(logins.await(oldest)).isNull();
        for (int i = 2; i < PendingLogins.MAX_WAITING; i++) {
            assertThat(logins.await(waiting(FLOOD))).isNull();
        }
        assertThat(logins.await(waiting(FLOOD))).isSameAs(oldest);
        assertThat(logins.next().waited()).isSameAs(learner);
    }

    private record FakeIncoming(InetAddress peerAddress) implements IncomingConnection {
        @Override
        public InetSocketAddress localAddress() {
            return null;
        }

        @Override
        public TargetDatamover open(TargetDatamover.Numbering numbering, int slots, NanoClock clock) {
            return null;
        }

        @Override
        public void close() {
            // There is nothing to close.
        }
    }
}
