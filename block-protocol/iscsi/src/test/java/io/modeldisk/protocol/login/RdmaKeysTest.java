package io.modeldisk.protocol.login;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests how an initiator and a target negotiate the login keys of a session over RDMA (RFC 7145 section 6). */
class RdmaKeysTest {
    private static final OperationalParameters OWN = new OperationalParameters(true, true, 8192, 1 << 20, 8192, 8192,
        Digest.NONE, Digest.NONE);

    private final TextParameters answers = new TextParameters();

    private OperationalNegotiation answered(boolean overRdma, String... offers) {
        Map<String, String> offered = new LinkedHashMap<>();
        for (String offer : offers) {
            offered.put(offer.replaceFirst("=.*", ""), offer.replaceFirst("[^=]*=", ""));
        }
        OperationalNegotiation target = new OperationalNegotiation(OWN, overRdma);
        target.answer(offered, answers, true);
        return target;
    }

    @Test
    void segmentLengthOverRdmaIsTheSmallerOfOfferAndLimit() {
        OperationalParameters agreed = answered(true, "RDMAExtensions=Yes", "InitiatorRecvDataSegmentLength=128",
            "TargetRecvDataSegmentLength=262144").result();
        assertThat(answers.asMap()).containsEntry("RDMAExtensions", "Yes")
            .containsEntry("InitiatorRecvDataSegmentLength", "128")
            .containsEntry("TargetRecvDataSegmentLength", "8192");
        assertThat(agreed.peerDataSegmentBytes()).isEqualTo(128);
        assertThat(agreed.ownDataSegmentBytes()).isEqualTo(8192);
    }

    @Test
    void targetOverRdmaDeclaresNoMaxRecvDataSegmentLength() {
        answered(true, "RDMAExtensions=Yes");
        assertThat(answers.asMap()).doesNotContainKey("MaxRecvDataSegmentLength");
    }

    @Test
    void targetDeclinesDigestsAndUnsolicitedDataOverRdma() {
        OperationalParameters agreed = answered(true, "HeaderDigest=CRC32C,None", "DataDigest=CRC32C,None",
            "InitialR2T=No")
            .result();
        assertThat(answers.asMap()).containsEntry("HeaderDigest", "None").containsEntry("DataDigest", "None")
            .containsEntry("InitialR2T", "Yes");
        assertThat(agreed.headerDigest()).isEqualTo(Digest.NONE);
    }

    @Test
    void targetSendsNoResponseToADeclarativeRdmaKey() {
        answered(true, "MaxOutstandingUnexpectedPDUs=4", "MaxAHSLength=256", "iSERHelloRequired=No",
            "TaggedBufferForSolicitedDataOnly=Yes");
        assertThat(answers.asMap()).isEmpty();
    }

    @Test
    void segmentLengthOutOfRangeIsRejectedOverRdma() {
        OperationalParameters agreed = answered(true, "InitiatorRecvDataSegmentLength=7",
            "TargetRecvDataSegmentLength=many").result();
        assertThat(answers.asMap().values()).containsOnly("Reject");
        assertThat(agreed.peerDataSegmentBytes()).isEqualTo(8192);
    }

    @Test
    void targetWithoutRdmaRespondsNotUnderstoodToRdmaKeys() {
        answered(false, "RDMAExtensions=Yes", "InitiatorRecvDataSegmentLength=128");
        assertThat(answers.asMap()).containsEntry("RDMAExtensions", "NotUnderstood")
            .containsEntry("InitiatorRecvDataSegmentLength", "NotUnderstood");
    }

    @Test
    void initiatorAndTargetNegotiateEqualParametersOverRdma() throws LoginException {
        OperationalNegotiation initiator = new OperationalNegotiation(OWN, true);
        OperationalNegotiation target = new OperationalNegotiation(OWN, true);
        target.answer(initiator.offers().asMap(), answers, true);
        initiator.accept(answers.asMap());
        initiator.conclude();
        assertThat(initiator.result()).isEqualTo(target.result());
    }

    @Test
    void initiatorRefusesATargetWithoutRdmaExtensions() throws LoginException {
        OperationalNegotiation initiator = new OperationalNegotiation(OWN, true);
        initiator.offers();
        initiator.accept(Map.of("RDMAExtensions", "NotUnderstood"));
        assertThatThrownBy(initiator::conclude).isInstanceOf(LoginException.class)
            .hasMessageContaining("RDMAExtensions");
    }
}
