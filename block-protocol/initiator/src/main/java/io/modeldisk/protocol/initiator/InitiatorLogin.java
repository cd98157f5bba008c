package io.modeldisk.protocol.initiator;

import io.modeldisk.platform.text.PeerText;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorTask;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.login.Key;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.OperationalNegotiation;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.login.chap.InitiatorChap;
import io.modeldisk.protocol.pdu.LoginRequestPdu;
import io.modeldisk.protocol.pdu.LoginResponsePdu;
import io.modeldisk.protocol.pdu.LoginStatus;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Map;

/**
 * Runs the login phase of a session. If secrets are set, the login begins with the security stage (CHAP). In the operational
 * stage, the initiator sends all keys in one request. The initiator then sends empty requests until the target agrees to the
 * full-feature phase.
 */
final class InitiatorLogin implements InitiatorDatamover.Listener {
    private static final int STAGE_SECURITY = 0;
    private static final int STAGE_OPERATIONAL = 1;
    private static final int STAGE_FULL_FEATURE = 3;
    private static final int MAX_EXCHANGES = 16;

    private final SessionContext context;
    private final InitiatorDatamover datamover;
    private final SessionNumbers numbers;
    private final OperationalNegotiation negotiation;
    private final LoginRequestPdu request = new LoginRequestPdu(Pdu.newHeader());
    private final ByteBuffer gathered = ByteBuffer.allocate(TextParameters.MAX_TEXT_BYTES);
    private final InitiatorChap chap;
    private int stage;
    private boolean done;

    InitiatorLogin(
        SessionContext context, InitiatorDatamover datamover, SessionNumbers numbers, OperationalParameters own) {
        this.context = context;
        this.datamover = datamover;
        this.numbers = numbers;
        this.negotiation = new OperationalNegotiation(datamover.limited(own), datamover.isRdma());
        this.chap = context.secrets == null ? null : new InitiatorChap(context.secrets, new SecureRandom());
        this.stage = chap == null ? STAGE_OPERATIONAL : STAGE_SECURITY;
    }

    OperationalParameters run() throws IOException {
        TextParameters keys = new TextParameters()
            .put(Key.INITIATOR_NAME, context.initiatorName)
            .put(Key.SESSION_TYPE, context.discovery ? "Discovery" : "Normal");
        if (!context.discovery) {
            keys.put(Key.TARGET_NAME, context.targetName);
        }
        if (chap == null) {
            sendOperational(keys);
        } else {
            send(keys.put(Key.AUTH_METHOD, chap.methods()), false);
        }
        for (int exchange = 0; !done; exchange++) {
            if (exchange == MAX_EXCHANGES) {
                throw new ProtocolException("the login was not complete after " + MAX_EXCHANGES + " responses");
            }
            datamover.receive(this);
        }
        negotiation.conclude();
        return negotiation.result();
    }

    private void sendOperational(TextParameters keys) throws IOException {
        stage = STAGE_OPERATIONAL;
        if (context.learner != null) {
            keys.put(Key.LEARNER, context.learner);
        }
        negotiation.offers().asMap().forEach(keys::put);
        send(keys, true);
    }

    private void send(TextParameters keys, boolean transit) throws IOException {
        int next = stage == STAGE_SECURITY ? STAGE_OPERATIONAL : STAGE_FULL_FEATURE;
        request.begin(stage, next, transit).session(context.isid, 0);
        datamover.sendControl(request, ByteBuffer.wrap(keys.encode()));
    }

    @Override
    public InitiatorTask task(int initiatorTaskTag) {
        return null;
    }

    @Override
    public void controlNotify(Pdu pdu, ByteBuffer data) throws IOException {
        if (pdu.opcode() != Opcode.LOGIN_RESPONSE) {
            throw new ProtocolException(
                PlainText.format("the target sent a PDU with opcode %02Xh instead of a Login response", pdu.opcode()));
        }
        LoginResponsePdu response = new LoginResponsePdu(pdu.header());
        if (response.status() != LoginStatus.SUCCESS) {
            throw refusal(response.status(), data);
        }
        numbers.received(response);
        if (data.remaining() > gathered.remaining()) {
            throw new ProtocolException("the target sent login keys of more than " + gathered.capacity() + " bytes");
        }
        gathered.put(data);
        if (response.continues()) {
            send(new TextParameters(), false);
            return;
        }
        Map<String, String> answers = TextParameters.parse(gathered.flip()).asMap();
        gathered.clear();
        if (response.currentStage() != stage) {
            throw new ProtocolException(
                "the target responded in login stage " + response.currentStage() + " instead of stage " + stage);
        }
        if (stage == STAGE_SECURITY) {
            secured(response, answers);
        } else {
            negotiation.accept(answers);
            done = response.transit() && response.nextStage() == STAGE_FULL_FEATURE;
            if (!done) {
                send(new TextParameters(), true);
            }
        }
    }

    /** Handles a Login response of the security stage, and sends the next Login request. */
    private void secured(LoginResponsePdu response, Map<String, String> answers) throws IOException {
        TextParameters next = chap.next(answers);
        if (!response.transit()) {
            // CHAP_R is the initiator's last key of this stage, so the request with CHAP_R also asks for the next stage (T bit).
            send(next, chap.isDone() || next.value(Key.CHAP_R) != null);
        } else if (chap.isDone() && next.isEmpty() && response.nextStage() == STAGE_OPERATIONAL) {
            sendOperational(new TextParameters());
        } else {
            throw new ProtocolException("the target left the security stage before the authentication was complete");
        }
    }

    /** Creates the exception for a login that was refused. {@code data} can contain the target's reason in words. */
    private LoginException refusal(int status, ByteBuffer data) {
        String words;
        try {
            words = TextParameters.parse(data).value(Key.REFUSAL);
        } catch (LoginException e) {
            // A target of another vendor can send other data here.
            words = null;
        }
        // The target may not have authenticated itself, so its words only follow the words of this initiator.
        return new LoginException(status,
            "the login to '" + context.targetName + "' at " + context.portalText() + " as initiator "
                + context.initiatorName + (chap == null ? "" : ", user '" + context.secrets.selfName() + "',")
                + " was refused: " + LoginStatus.describe(status)
                + remedy(status)
                + (words == null ? "" : " (the target says: " + PeerText.printable(words) + ")"));
    }

    /** Returns advice for a user whose login was refused; an empty string if there is no advice. */
    private String remedy(int status) {
        if (status == LoginStatus.AUTHORIZATION_FAILURE) {
            return "; the log of the shard has the reason";
        }
        if (status != LoginStatus.AUTHENTICATION_FAILURE) {
            return "";
        }
        return chap == null
            ? "; the target requires a secret (--secrets FILE)"
            : "; check the secrets files: the initiator's line 'self' must be a line 'peer' in the target's file,"
                + " and the initiator's line 'peer', if any, must be the line 'self' in the target's file";
    }
}
