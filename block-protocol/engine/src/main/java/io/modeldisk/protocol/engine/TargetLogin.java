package io.modeldisk.protocol.engine;

import io.modeldisk.platform.text.PeerText;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.login.IscsiName;
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
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Performs the target's part of a login (RFC 7143 section 6.3): the stages, the names and the negotiation. A session has one
 * connection and is a normal or a discovery session. Until a login succeeds, only the text of the login occupies memory.
 */
final class TargetLogin implements TargetDatamover.ControlListener {
    private static final int STAGE_SECURITY = 0;
    private static final int STAGE_OPERATIONAL = 1;
    private static final int STAGE_FULL_FEATURE = 3;
    private static final int MAX_EXCHANGES = 32;
    private static final Set<String> REPEATABLE = Set.of(Key.INITIATOR_NAME, Key.TARGET_NAME, Key.SESSION_TYPE,
        Key.MAX_RECV_DATA_SEGMENT_LENGTH);

    private final TargetDatamover datamover;
    private final CommandWindow window;
    private final Target target;
    private final TargetConnection connection;
    private final TargetContext context;
    private final TargetSecurity security;
    private final OperationalNegotiation negotiation;
    private final LoginResponsePdu response = new LoginResponsePdu(Pdu.newHeader());
    private final ByteArrayOutputStream gathered = new ByteArrayOutputStream();
    /** The keys that the initiator has sent, with their values. A login negotiates each key only once (RFC 7143 section 6.3). */
    private final Map<String, String> settled = new HashMap<>();

    private boolean begun;
    private boolean identified;
    private boolean done;
    private int stage;
    private long isid;
    private String initiatorName;
    private String targetName;
    private boolean discovery;
    private Session session;

    TargetLogin(
        TargetConnection connection, TargetDatamover datamover, CommandWindow window, Target target,
        TargetContext context,
        OperationalParameters wishes) {
        this.connection = connection;
        this.datamover = datamover;
        this.window = window;
        this.context = context;
        this.target = target;
        this.security = new TargetSecurity(context.access, context.random);
        this.negotiation = new OperationalNegotiation(datamover.limited(wishes), datamover.isRdma());
    }

    /** Runs the login. If the login fails, sends the login status to the initiator and then throws an exception. */
    void run() throws IOException {
        for (int exchange = 0; !done; exchange++) {
            if (exchange == MAX_EXCHANGES) {
                throw new ProtocolException("the login did not complete within " + MAX_EXCHANGES + " exchanges");
            }
            datamover.receiveControl(this);
        }
    }

    OperationalParameters result() {
        return negotiation.result();
    }

    @Override
    public void controlNotify(Pdu pdu, ByteBuffer data) throws IOException {
        if (pdu.opcode() != Opcode.LOGIN_REQUEST) {
            throw new ProtocolException(
                PlainText.format("the initiator sent a PDU with opcode %02Xh before the login completed",
                    pdu.opcode()));
        }
        connection.loginRequested();
        LoginRequestPdu request = new LoginRequestPdu(pdu.header());
        try {
            answer(request, data);
        } catch (LoginException e) {
            connection.delayRefusal();
            fail(request, e);
            throw initiatorName == null || e.logged().contains(initiatorName)
                ? e
                : new LoginException(e.status(), e.logged() + " (initiator " + initiatorName + ")");
        }
    }

    /** Sends a Login Response with the status of a failed login. Only an authenticated initiator receives the reason in words. */
    private void fail(LoginRequestPdu request, LoginException reason) throws IOException {
        response.begin(request.initiatorTaskTag(), request.currentStage(), 0, false).session(request.isid(), 0)
            .status(reason.status());
        ByteBuffer text = security.isDone()
            ? ByteBuffer.wrap(
                new TextParameters().put(Key.REFUSAL, PeerText.printable(reason.getMessage())).encode())
            : null;
        datamover.sendControl(response, text, true);
    }

    private void answer(LoginRequestPdu request, ByteBuffer data) throws IOException {
        if (!begun) {
            begin(request);
            begun = true;
        } else if (request.currentStage() != stage) {
            throw new LoginException(LoginStatus.INVALID_DURING_LOGIN,
                "the Login Request is for stage " + request.currentStage() + ", but the login is in stage " + stage);
        }
        LoginException.require(data.remaining() <= TextParameters.MAX_TEXT_BYTES - gathered.size(),
            "the login text exceeds " + TextParameters.MAX_TEXT_BYTES + " bytes");
        byte[] part = new byte[data.remaining()];
        data.get(part);
        gathered.writeBytes(part);
        TextParameters answers = new TextParameters();
        if (request.continues()) {
            LoginException.require(!request.transit(),
                "the Login Request has both incomplete text (C=1) and a stage transit (T=1)");
            send(request, answers, false);
            return;
        }
        TextParameters offered = TextParameters.parse(ByteBuffer.wrap(gathered.toByteArray()));
        gathered.reset();
        settle(offered.asMap());
        if (!identified) {
            identify(offered);
            identified = true;
            if (!discovery) {
                answers.put(Key.TARGET_PORTAL_GROUP_TAG, context.portals.ownTag());
            }
        }
        security.exchange(offered.asMap(), answers);
        if (stage != STAGE_SECURITY || request.transit()) {
            security.requireBegun();
        }
        negotiation.answer(offered.asMap(), answers, stage == STAGE_OPERATIONAL);
        if (security.isDone()) {
            authorize();
        }
        send(request, answers, request.transit() && security.isDone());
    }

    /** Refuses a key that was negotiated before. Some keys, such as names, can be repeated with an unchanged value. */
    private void settle(Map<String, String> offered) throws LoginException {
        for (Map.Entry<String, String> pair : offered.entrySet()) {
            String before = settled.putIfAbsent(pair.getKey(), pair.getValue());
            boolean repeatable = REPEATABLE.contains(pair.getKey());
            LoginException.require(before == null || repeatable && before.equals(pair.getValue()),
                "the key " + pair.getKey() + " was negotiated twice in one login");
        }
    }

    private void begin(LoginRequestPdu request) throws LoginException {
        LoginException.require(request.versionMin() <= 0, LoginStatus.UNSUPPORTED_VERSION,
            "the initiator requires iSCSI version " + request.versionMin() + ", but the target supports version 0");
        stage = request.currentStage();
        LoginException.require(stage == STAGE_SECURITY || stage == STAGE_OPERATIONAL,
            "the login starts in stage " + stage + ", but must start in stage 0 or 1");
        isid = request.isid();
        window.start(request.cmdSn(), 1);
    }

    private void identify(TextParameters offered) throws LoginException {
        String name = offered.value(Key.INITIATOR_NAME);
        LoginException.require(name != null, LoginStatus.MISSING_PARAMETER,
            "the login text does not contain the key InitiatorName");
        initiatorName = IscsiName.normalized(name);
        LoginException.require(initiatorName != null,
            "the initiator name is not an iSCSI name of at most 223 bytes: " + name);
        LoginException.require(IscsiName.isPrepared(name), "write the initiator name in the form in which"
            + " names are compared (RFC 3722: lower case, Unicode form NFKC, no dot at the end), because it could be mistaken"
            + " for another name: " + name);
        String type = offered.value(Key.SESSION_TYPE, "Normal");
        discovery = type.equals("Discovery");
        LoginException.require(discovery || type.equals("Normal"), LoginStatus.SESSION_TYPE_NOT_SUPPORTED,
            "SessionType must be Normal or Discovery, but is " + type);
        if (discovery) {
            return;
        }
        targetName = offered.value(Key.TARGET_NAME);
        LoginException.require(targetName != null, LoginStatus.MISSING_PARAMETER,
            "the login text does not contain the key TargetName");
    }

    /** Checks the names after authentication, so only an authenticated initiator can find out which names are valid. */
    private void authorize() throws LoginException {
        security.authorize(initiatorName);
        LoginException.require(discovery || target.name().equals(IscsiName.normalized(targetName)),
            LoginStatus.TARGET_NOT_FOUND,
            "the target's name is " + target.name() + ", not " + targetName);
    }

    /** Creates the session of a successful login and allocates the session's memory. */
    private void establish(LoginRequestPdu request) throws IOException {
        String label = negotiation.learner() == null ? initiatorName : negotiation.learner();
        Nexus nexus = new Nexus(initiatorName, isid, target.name(), PeerText.printable(label),
            security.rights(initiatorName),
            security.user(), connection.peerHost());
        session = connection.establish(new Session(nexus, discovery, request.tsih(), request.cid(), connection));
        LoginException.require(window.open(TargetContext.INITIAL_COMMANDS), LoginStatus.OUT_OF_RESOURCES,
            "there is no free memory for another session; increase --buffers");
    }

    private void send(LoginRequestPdu request, TextParameters answers, boolean transit) throws IOException {
        int next = request.nextStage();
        LoginException.require(!transit || next > stage && next != 2,
            "a transit from stage " + stage + " to stage " + next + " is not allowed");
        ByteBuffer text = ByteBuffer.wrap(answers.encode());
        int limitBytes = OperationalParameters.DEFAULTS.peerDataSegmentBytes();
        LoginException.require(text.remaining() <= limitBytes,
            "the login response exceeds " + limitBytes + " bytes because the initiator sent too many unknown keys");
        done = transit && next == STAGE_FULL_FEATURE;
        if (done) {
            establish(request);
        }
        response.begin(request.initiatorTaskTag(), stage, next, transit).session(isid, done ? session.tsih() : 0);
        datamover.sendControl(response, text, true);
        if (transit) {
            stage = next;
        }
    }
}
