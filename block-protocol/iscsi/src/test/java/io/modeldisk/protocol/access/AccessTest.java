package io.modeldisk.protocol.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.test.ManualClock;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which users and addresses a target admits. */
class AccessTest {
    private static final ChapSecrets SECRETS = ChapSecrets.parse("peer learner aVeryLongSecretOfIts", "test");

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 10.255.0.1, true", "10.0.0.0/8, 11.0.0.0, false", "192.168.1.7, 192.168.1.7, true",
        "192.168.1.7, 192.168.1.6, false", "192.168.1.6/31, 192.168.1.7, true", "172.16.0.0/12, 172.31.9.9, true",
        "172.16.0.0/12, 172.32.0.0, false", "0.0.0.0/0, 8.8.8.8, true", "0.0.0.0/0, ::1, false", "::/0, ::1, true",
        "::/0, 8.8.8.8, false", "fd00::/8, fdff::1, true", "fd00::/8, fe00::1, false", "fe80::/10, febf::1, true",
        "::ffff:10.0.0.0/104, 10.1.2.3, true", "10.0.0.0/8, ::ffff:10.1.2.3, true",
        "::ffff:10.0.0.0/104, 11.1.2.3, false"})
    void addressRangeContainsAddressesWithTheSamePrefix(String range, String address, boolean contained) {
        assertThat(AddressRange.parse(range).contains(InetAddress.ofLiteral(address))).isEqualTo(contained);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        localhost            | is not a range of addresses
        10.0.0.0/            | is not a range of addresses
        10.0.0.0/-1          | is not a range of addresses
        fe80::1%eth0         | is not a range of addresses
        10.0.0.0/33          | must have from 0 to 32 bits
        ::/129               | must have from 0 to 128 bits
        ::ffff:10.0.0.0/8    | must have from 96 to 128 bits
        10.0.0.1/8           | did you mean 10.0.0.0/8?
        """)
    void malformedAddressRangeIsRefused(String range, String message) {
        assertThatThrownBy(() -> AddressRange.parse(range)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(message).hasMessageContaining(range);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "::", "192.168.1.7", "fd00::1"})
    void listenAddressReachableFromOtherMachinesNeedsSecretsOrTheInsecureOption(String host) {
        InetSocketAddress listen = new InetSocketAddress(InetAddress.ofLiteral(host), 3260);
        assertThatThrownBy(() -> AccessPolicy.THIS_MACHINE.checkListen(listen)).hasMessageContaining("--secrets FILE")
            .hasMessageContaining("--insecure");
        assertThatCode(() -> new AccessPolicy(SECRETS, false, List.of()).checkListen(listen))
            .doesNotThrowAnyException();
        assertThatCode(() -> new AccessPolicy(null, true, List.of()).checkListen(listen))
            .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"})
    void loopbackListenAddressNeedsNoAuthentication(String host) {
        assertThatCode(() -> AccessPolicy.THIS_MACHINE.checkListen(
            new InetSocketAddress(InetAddress.ofLiteral(host), 0))).doesNotThrowAnyException();
    }

    @Test
    void listOfAllowedAddressesDoesNotReplaceAuthentication() {
        AccessPolicy listed = new AccessPolicy(null, false, List.of(AddressRange.parse("10.0.0.0/8")));
        assertThatThrownBy(() -> listed.checkListen(new InetSocketAddress("0.0.0.0", 0)))
            .hasMessageContaining("can be reached from other machines without authentication");
        assertThat(listed.admits(InetAddress.ofLiteral("10.9.9.9"))).isTrue();
        assertThat(listed.admits(InetAddress.ofLiteral("127.0.0.1"))).isFalse();
    }

    @Test
    void accessPolicyIsRefusedIfItsSecretsHaveNoPeerLine() {
        ChapSecrets none = ChapSecrets.parse("self shards theShardsOwnSecret1", "test");
        assertThatThrownBy(() -> new AccessPolicy(none, false, List.of()))
            .hasMessageContaining("every login would fail");
    }

    @Test
    void accessPolicyIsRefusedIfItHasBothSecretsAndTheInsecureOption() {
        assertThatThrownBy(() -> new AccessPolicy(SECRETS, true, List.of()))
            .hasMessageContaining("contradict");
    }

    @Test
    void loginDelayDoublesWithEachRecentFailureOfAnAddress() {
        ManualClock clock = new ManualClock();
        FailureDelays delays = new FailureDelays(clock);
        InetAddress one = InetAddress.ofLiteral("10.0.0.1");
        assertThat(List.of(delays.failedMs(one), delays.failedMs(one), delays.failedMs(one)))
            .containsExactly(100L, 200L, 400L);
        assertThat(delays.failedMs(InetAddress.ofLiteral("10.0.0.2"))).isEqualTo(100);
        for (int i = 0; i < 10; i++) {
            delays.failedMs(one);
        }
        assertThat(delays.failedMs(one)).isEqualTo(FailureDelays.LONGEST_MS);
        clock.advance(Duration.ofMillis(FailureDelays.FORGET_MS + 1));
        assertThat(delays.failedMs(one)).isEqualTo(100);
    }
}
