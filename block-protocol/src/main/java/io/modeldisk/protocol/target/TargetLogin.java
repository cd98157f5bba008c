package io.modeldisk.protocol.target;

import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.DataTransfer;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.datamover.TargetDatamover;
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
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

/**
 * The login phase of one connection, from the target's side (RFC 7143 section 6.3): stages, names, negotiation. One
 * connection a session; sessions are normal or for discovery.
 */
final class TargetLogin implements TargetDatamover.Listener {
    private static final int STAGE_SECURITY = 0;
    private static final int STAGE_OPERATIONAL = 1;
    private static final int STAGE_FULL_FEATURE = 3;
    private static final int MAX_EXCHANGES = 32;

    private final TargetDatamover datamover;
    private final CommandWindow window;
    private final Target target;
    private final int initialCommands;
    private final int tsih;
    private final OperationalNegotiation negotiation;
    private final LoginResponsePdu response = new LoginResponsePdu(Pdu.newHeader());
    private final ByteBuffer gathered = ByteBuffer.allocate(TextParameters.MAX_TEXT_BYTES);

    private boolean begun;
    private boolean identified;
    private boolean done;
    private int stage;
    private long isid;
    private int cid;
    private String initiatorName;
    private boolean discovery;

    TargetLogin(TargetDatamover datamover, CommandWindow window, TargetServer.Context context, int tsih) {
        this.datamover = datamover;
        this.window = window;
        this.target = context.target();
        this.initialCommands = context.initialCommands();
        this.tsih = tsih;
        this.negotiation = new OperationalNegotiation(context.parameters());
    }

    /** Runs the login to its end. A login that fails is answered with its status before this throws. */
    void run() throws IOException {
        for (int exchange = 0; !done; exchange++) {
            if (exchange == MAX_EXCHANGES) {
                throw new ProtocolException("a login of more than " + MAX_EXCHANGES + " exchanges");
            }
            datamover.receive(this);
        }
    }

    OperationalParameters result() {
        return negotiation.result();
    }

    /** The number that the initiator gave this connection. */
    int cid() {
        return cid;
    }

    boolean isDiscovery() {
        return discovery;
    }

    /** Who has logged in. */
    Nexus nexus() {
        String learner = negotiation.learner() == null ? initiatorName : negotiation.learner();
        return new Nexus(initiatorName, isid, target.name(), learner);
    }

    @Override
    public DataTransfer placeImmediateData(ScsiCommandPdu command) throws IOException {
        throw new ProtocolException("a SCSI command before the login");
    }

    @Override
    public void dataCompletionNotify(DataTransfer transfer) {
        throw new IllegalStateException("no transfer during login");
    }

    @Override
    public void discardNotify(Pdu pdu, int reason) {
        throw new IllegalStateException("neither digests nor transfers during login");
    }

    @Override
    public void dataErrorNotify(DataTransfer transfer, DataError error) {
        throw new IllegalStateException("no transfer during login");
    }

    @Override
    public void controlNotify(Pdu pdu, ByteBuffer data) throws IOException {
        if (pdu.opcode() != Opcode.LOGIN_REQUEST) {
            throw new ProtocolException("opcode %02Xh before the login".formatted(pdu.opcode()));
        }
        LoginRequestPdu request = new LoginRequestPdu(pdu.header());
        try {
            answer(request, data);
        } catch (LoginException e) {
            fail(request, e.status());
            throw e;
        }
    }

    /** Tells the initiator that its login has failed. */
    void fail(LoginRequestPdu request, int status) throws IOException {
        response.begin(request.initiatorTaskTag(), request.currentStage(), 0, false).session(request.isid(), 0)
            .status(status);
        datamover.sendControl(response, null, true);
    }

    private void answer(LoginRequestPdu request, ByteBuffer data) throws IOException {
        if (!begun) {
            begin(request);
            begun = true;
        } else if (request.currentStage() != stage) {
            throw new LoginException(LoginStatus.INVALID_DURING_LOGIN,
                "stage " + request.currentStage() + " in stage " + stage);
        }
        if (data.remaining() > gathered.remaining()) {
            throw new LoginException("login text of more than " + gathered.capacity() + " bytes");
        }
        gathered.put(data);
        TextParameters answers = new TextParameters();
        if (request.continues()) {
            send(request, answers, false);
            return;
        }
        TextParameters offered = TextParameters.parse(gathered.flip());
        gathered.clear();
        if (!identified) {
            identify(offered);
            identified = true;
            if (!discovery) {
                answers.put(Key.TARGET_PORTAL_GROUP_TAG, 1);
            }
        }
        negotiate(offered.asMap(), answers);
        send(request, answers, request.transit());
    }

    private void begin(LoginRequestPdu request) throws LoginException {
        if (request.versionMin() > 0) {
            throw new LoginException(LoginStatus.UNSUPPORTED_VERSION, "version " + request.versionMin());
        }
        if (request.tsih() != 0) {
            throw new LoginException(LoginStatus.SESSION_DOES_NOT_EXIST,
                "TSIH " + request.tsih() + ": a session has one connection, which a new session replaces");
        }
        stage = request.currentStage();
        if (stage != STAGE_SECURITY && stage != STAGE_OPERATIONAL) {
            throw new LoginException("a login that starts in stage " + stage);
        }
        isid = request.isid();
        cid = request.cid();
        if (!window.open(initialCommands)) {
            throw new LoginException(LoginStatus.OUT_OF_RESOURCES, "no memory for another session");
        }
        window.start(request.cmdSn(), 1);
    }

    private void identify(TextParameters offered) throws LoginException {
        initiatorName = offered.value(Key.INITIATOR_NAME);
        if (initiatorName == null || initiatorName.isEmpty() || initiatorName.length() > 223) {
            throw new LoginException(LoginStatus.MISSING_PARAMETER, "no InitiatorName, or one of more than 223 bytes");
        }
        String type = offered.value(Key.SESSION_TYPE, "Normal");
        discovery = type.equals("Discovery");
        if (!discovery && !type.equals("Normal")) {
            throw new LoginException(LoginStatus.SESSION_TYPE_NOT_SUPPORTED, "SessionType=" + type);
        }
        if (discovery) {
            return;
        }
        String name = offered.value(Key.TARGET_NAME);
        if (name == null) {
            throw new LoginException(LoginStatus.MISSING_PARAMETER, "a normal session without TargetName");
        }
        if (!name.equalsIgnoreCase(target.name())) {
            throw new LoginException(LoginStatus.TARGET_NOT_FOUND,
                "TargetName=" + name + ", here is " + target.name());
        }
    }

    private void negotiate(Map<String, String> offered, TextParameters answers) throws LoginException {
        String methods = offered.get(Key.AUTH_METHOD);
        if (methods != null) {
            if (!List.of(methods.split(",")).contains(Key.NONE)) {
                throw new LoginException(LoginStatus.AUTHENTICATION_FAILURE,
                    "AuthMethod=" + methods + ", here is None");
            }
            answers.put(Key.AUTH_METHOD, Key.NONE);
        }
        negotiation.answer(offered, answers, stage == STAGE_OPERATIONAL);
    }

    private void send(LoginRequestPdu request, TextParameters answers, boolean transit) throws IOException {
        int next = request.nextStage();
        if (transit && (next <= stage || next == 2)) {
            throw new LoginException("a transit from stage " + stage + " to " + next);
        }
        done = transit && next == STAGE_FULL_FEATURE;
        response.begin(request.initiatorTaskTag(), stage, next, transit).session(isid, done ? tsih : 0);
        ByteBuffer text = ByteBuffer.wrap(answers.encode());
        if (text.remaining() > OperationalParameters.DEFAULTS.peerDataSegmentBytes()) {
            throw new LoginException("answers of more than 8192 bytes: too many unknown keys");
        }
        datamover.sendControl(response, text, true);
        if (transit) {
            stage = next;
        }
    }
}
