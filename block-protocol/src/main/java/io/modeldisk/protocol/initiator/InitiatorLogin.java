package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorTask;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.login.Key;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.OperationalNegotiation;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.pdu.LoginRequestPdu;
import io.modeldisk.protocol.pdu.LoginResponsePdu;
import io.modeldisk.protocol.pdu.LoginStatus;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The login phase from the initiator's side: one request with everything, then empty ones until the target is content. */
final class InitiatorLogin implements InitiatorDatamover.Listener {
    private static final int STAGE_OPERATIONAL = 1;
    private static final int STAGE_FULL_FEATURE = 3;
    private static final int MAX_EXCHANGES = 16;

    private final SessionContext context;
    private final InitiatorDatamover datamover;
    private final SessionNumbers numbers;
    private final OperationalNegotiation negotiation;
    private final LoginRequestPdu request = new LoginRequestPdu(Pdu.newHeader());
    private final ByteBuffer gathered = ByteBuffer.allocate(TextParameters.MAX_TEXT_BYTES);
    private boolean done;

    InitiatorLogin(
        SessionContext context, InitiatorDatamover datamover, SessionNumbers numbers, OperationalParameters own) {
        this.context = context;
        this.datamover = datamover;
        this.numbers = numbers;
        this.negotiation = new OperationalNegotiation(own);
    }

    OperationalParameters run() throws IOException {
        TextParameters keys = new TextParameters()
            .put(Key.INITIATOR_NAME, context.initiatorName())
            .put(Key.TARGET_NAME, context.targetName())
            .put(Key.SESSION_TYPE, "Normal");
        if (context.learner() != null) {
            keys.put(Key.LEARNER, context.learner());
        }
        negotiation.offers().asMap().forEach(keys::put);
        send(keys);
        for (int exchange = 0; !done; exchange++) {
            if (exchange == MAX_EXCHANGES) {
                throw new ProtocolException("the login does not end");
            }
            datamover.receive(this);
        }
        negotiation.conclude();
        return negotiation.result();
    }

    private void send(TextParameters keys) throws IOException {
        request.begin(STAGE_OPERATIONAL, STAGE_FULL_FEATURE, true).session(context.isid(), 0);
        datamover.sendControl(request, ByteBuffer.wrap(keys.encode()));
    }

    @Override
    public InitiatorTask task(int initiatorTaskTag) {
        return null;
    }

    @Override
    public void controlNotify(Pdu pdu, ByteBuffer data) throws IOException {
        if (pdu.opcode() != Opcode.LOGIN_RESPONSE) {
            throw new ProtocolException("opcode %02Xh during login".formatted(pdu.opcode()));
        }
        LoginResponsePdu response = new LoginResponsePdu(pdu.header());
        if (response.status() != LoginStatus.SUCCESS) {
            throw new LoginException(response.status(),
                "login to " + context.targetName() + " at " + context.portalText()
                    + " refused: " + LoginStatus.describe(response.status()));
        }
        numbers.received(response);
        if (data.remaining() > gathered.remaining()) {
            throw new ProtocolException("a login answer of more than " + gathered.capacity() + " bytes");
        }
        gathered.put(data);
        if (response.continues()) {
            send(new TextParameters());
            return;
        }
        negotiation.accept(TextParameters.parse(gathered.flip()).asMap());
        gathered.clear();
        done = response.transit() && response.nextStage() == STAGE_FULL_FEATURE;
        if (!done) {
            send(new TextParameters());
        }
    }
}
