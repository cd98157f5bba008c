package io.modeldisk.protocol.login;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests how an initiator checks the target's responses to its offers (RFC 7143 sections 6.2 and 13). */
class OperationalNegotiationTest {
    private static OperationalNegotiation initiator(boolean initialR2t, boolean immediateData) {
        OperationalNegotiation initiator = new OperationalNegotiation(new OperationalParameters(initialR2t,
            immediateData, 65536, 1 << 20, 8192, 8192, Digest.NONE, Digest.NONE), false);
        initiator.offers();
        return initiator;
    }

    @ParameterizedTest
    @CsvSource({"MaxConnections=1", "MaxOutstandingR2T=1", "ErrorRecoveryLevel=0", "DefaultTime2Retain=0",
        "DefaultTime2Wait=0", "DefaultTime2Wait=2", "DefaultTime2Wait=3600", "DataPDUInOrder=Yes",
        "DataSequenceInOrder=Yes", "FirstBurstLength=65536", "MaxBurstLength=512", "TargetAlias=shard",
        "TargetPortalGroupTag=1"})
    void responseWithinTheOfferIsAccepted(String response) {
        assertThatCode(() -> accept(initiator(false, true), response)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({"MaxConnections=2", "MaxOutstandingR2T=2", "ErrorRecoveryLevel=1", "DefaultTime2Retain=20",
        "DefaultTime2Wait=-1", "DefaultTime2Wait=3601", "DefaultTime2Wait=Reject", "DataPDUInOrder=No",
        "DataSequenceInOrder=No", "DataSequenceInOrder=Reject", "FirstBurstLength=65537", "MaxBurstLength=511",
        "InitialR2T=Maybe", "ImmediateData=Maybe"})
    void responseOutsideTheOfferIsRefused(String response) {
        assertThatThrownBy(() -> accept(initiator(false, true), response)).isInstanceOf(LoginException.class)
            .hasMessageStartingWith("the target responded with " + response + "; ");
    }

    @Test
    void initiatorThatOfferedInitialR2tYesRefusesTheResponseNo() throws LoginException {
        assertThat(accept(initiator(true, true), "InitialR2T=Yes").result().initialR2t()).isTrue();
        assertThatThrownBy(() -> accept(initiator(true, true), "InitialR2T=No"))
            .hasMessage("the target responded with InitialR2T=No; the initiator offered Yes");
    }

    @Test
    void initiatorThatOfferedImmediateDataNoRefusesTheResponseYes() throws LoginException {
        assertThat(accept(initiator(true, false), "ImmediateData=No").result().immediateData()).isFalse();
        assertThatThrownBy(() -> accept(initiator(true, false), "ImmediateData=Yes"))
            .hasMessage("the target responded with ImmediateData=Yes; the initiator offered No");
    }

    private static OperationalNegotiation accept(OperationalNegotiation initiator, String response)
        throws LoginException {
        int equals = response.indexOf('=');
        initiator.accept(Map.of(response.substring(0, equals), response.substring(equals + 1)));
        return initiator;
    }
}
