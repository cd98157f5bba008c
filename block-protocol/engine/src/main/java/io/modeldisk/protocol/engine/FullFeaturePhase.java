package io.modeldisk.protocol.engine;

import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.DataArrival;
import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.DataTransfer;
import io.modeldisk.protocol.datamover.ImmediateData;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.pdu.LogoutRequestPdu;
import io.modeldisk.protocol.pdu.LogoutResponsePdu;
import io.modeldisk.protocol.pdu.NopInPdu;
import io.modeldisk.protocol.pdu.NopOutPdu;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.RejectPdu;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.pdu.TaskManagementRequestPdu;
import io.modeldisk.protocol.pdu.TaskManagementResponsePdu;
import io.modeldisk.protocol.pdu.TextRequestPdu;
import io.modeldisk.protocol.pdu.TextResponsePdu;
import io.modeldisk.protocol.scsi.AccessState;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The full-feature phase of a session (RFC 7143 section 4). Dispatches PDUs, and passes SCSI commands to {@link TaskRunner}.
 * The receiver thread of the connection calls the methods, unless a comment states otherwise.
 */
final class FullFeaturePhase implements TargetDatamover.Listener {
    /** The target transfer tag of the NOP-In PDUs with which the target pings an initiator. */
    static final int PING_TAG = 0x50494E47;

    private static final Logger LOG = LogManager.getLogger(FullFeaturePhase.class);

    /** The parts of a session and the results of its login. */
    record Setup(
        Target target,
        TargetPortGroups portGroups,
        int portalGroupTag,
        TargetDatamover datamover,
        CommandWindow window,
        BufferPool pool,
        OperationalParameters parameters,
        boolean discovery,
        List<String> targetAddresses,
        int cid,
        NanoClock clock) {}

    private final Setup setup;
    private final TargetConnection connection;
    private final UnitAttentions attentions;
    private final ActiveTags active;
    private final TaskEnd end;
    private final TaskPutter putter;
    private final TaskRunner runner;
    private final TaskSet tasks;
    private final ByteBuffer text = ByteBuffer.allocateDirect(OperationalParameters.DEFAULTS.peerDataSegmentBytes());
    private final NopInPdu nopIn = new NopInPdu(Pdu.newHeader());
    private final TextResponsePdu textResponse = new TextResponsePdu(Pdu.newHeader());
    private final LogoutResponsePdu logoutResponse = new LogoutResponsePdu(Pdu.newHeader());
    private final TaskManagementResponsePdu managementResponse = new TaskManagementResponsePdu(Pdu.newHeader());
    private final FaultCount faults = new FaultCount();
    private final RejectPdu reject = new RejectPdu(Pdu.newHeader());
    private final TextExchange exchange;
    private volatile boolean loggedOut;

    FullFeaturePhase(Setup setup, TargetConnection connection) {
        this.setup = setup;
        this.connection = connection;
        this.attentions = new UnitAttentions(setup.target());
        this.active = new ActiveTags(setup.window().maxSlots());
        this.end = new TaskEnd(setup, active);
        this.putter = new TaskPutter(setup, end);
        this.runner = new TaskRunner(setup, attentions, active, end, putter, faults, connection::denied);
        this.tasks = new TaskSet(setup, putter, end);
        this.exchange = new TextExchange(setup.target(), setup.targetAddresses(), setup.discovery());
    }

    boolean isLoggedOut() {
        return loggedOut;
    }

    /**
     * Handles a SCSI command: checks its CmdSN, acquires a slot, decodes the CDB, moves the immediate data, and starts the task.
     * A command that is ignored, rejected or refused gets no task, and its data is dropped.
     */
    @Override
    public void commandNotify(ScsiCommandPdu command, ImmediateData data) throws IOException {
        if (setup.discovery()) {
            rejectWithData(command, data, RejectPdu.PROTOCOL_ERROR);
            return;
        }
        if (!inOrder(command)) {
            data.drop();
            return;
        }
        int reason = reasonToReject(command);
        if (reason != 0) {
            rejectWithData(command, data, reason);
            return;
        }
        TaskSlot task = tasks.takeSlot();
        if (task == null) {
            refuse(command, data);
            return;
        }
        runner.begin(task, command);
        DataArrival arrival = data.moveTo(task.transfer, task.failure() == null);
        if (arrival == DataError.DIGEST) {
            end.discard(task);
            discardNotify(command, RejectPdu.DATA_DIGEST_ERROR);
            return;
        }
        if (setup.window().count(command)) {
            runner.start(task, arrival);
        } else {
            end.discard(task);
        }
    }

    /** Rejects a command and drops its data. The initiator can use the CmdSN of the command again (RFC 7143 section 7.3). */
    private void rejectWithData(ScsiCommandPdu command, ImmediateData data, int reason) throws IOException {
        reject(command, data.drop() ? reason : RejectPdu.DATA_DIGEST_ERROR);
    }

    /** Refuses a command with TASK SET FULL, because immediate commands have used up the free slots. */
    private void refuse(ScsiCommandPdu command, ImmediateData data) throws IOException {
        if (!data.drop()) {
            discardNotify(command, RejectPdu.DATA_DIGEST_ERROR);
        } else if (setup.window().count(command)) {
            end.refuse(command, ScsiStatus.TASK_SET_FULL);
        }
    }

    private int reasonToReject(ScsiCommandPdu command) {
        if (command.initiatorTaskTag() == Pdu.RESERVED_TAG) {
            return RejectPdu.INVALID_PDU_FIELD;
        }
        return active.contains(command.initiatorTaskTag()) ? RejectPdu.TASK_IN_PROGRESS : 0;
    }

    @Override
    public void controlNotify(Pdu pdu, ByteBuffer data) throws IOException {
        switch (pdu.opcode()) {
            case Opcode.NOP_OUT -> nopOut(new NopOutPdu(pdu.header()), data);
            case Opcode.TEXT_REQUEST -> textRequest(new TextRequestPdu(pdu.header()), data);
            case Opcode.LOGOUT_REQUEST -> logout(new LogoutRequestPdu(pdu.header()));
            case Opcode.TASK_MANAGEMENT_REQUEST -> manage(new TaskManagementRequestPdu(pdu.header()));
            case Opcode.SNACK_REQUEST -> reject(pdu, RejectPdu.SNACK_REJECT);
            case Opcode.LOGIN_REQUEST -> throw new ProtocolException(
                "the initiator sent a Login Request after the login had completed");
            default -> unknown(pdu);
        }
    }

    /** True if a request must be served, because it is immediate or has the next CmdSN. */
    private boolean inOrder(RequestPdu received) throws ProtocolException {
        CommandWindow.Order order = setup.window().orderOf(received);
        if (order == CommandWindow.Order.GAP) {
            throw new ProtocolException(
                "a request with CmdSN " + Integer.toUnsignedString(received.cmdSn())
                    + " arrived, but an earlier request is missing");
        }
        return order == CommandWindow.Order.TAKE;
    }

    private void unknown(Pdu pdu) throws IOException {
        if (faults.add()) {
            LOG.warn(
                "a PDU from {} was rejected because its opcode {} is not supported (faulty PDUs of this connection so"
                    + " far: {})",
                setup.datamover().peer(), PlainText.format("%02Xh", pdu.opcode()), faults.count());
        }
        reject(pdu, RejectPdu.COMMAND_NOT_SUPPORTED);
    }

    private void reject(Pdu pdu, int reason) throws IOException {
        text.clear().put(0, pdu.header(), 0, Pdu.BHS_BYTES).limit(Pdu.BHS_BYTES);
        setup.datamover().sendControl(reject.begin(reason), text, true);
    }

    /** Rejects the last received PDU because of a protocol error. The caller then closes the connection. */
    void rejectQuietly() {
        try {
            reject(setup.datamover().received(), RejectPdu.PROTOCOL_ERROR);
        } catch (IOException e) {
            LOG.debug("the Reject PDU for a protocol error could not be sent: {}", e.toString());
        }
    }

    private void nopOut(NopOutPdu ping, ByteBuffer data) throws IOException {
        if (!inOrder(ping)) {
            return;
        }
        boolean answer = ping.initiatorTaskTag() == Pdu.RESERVED_TAG;
        if (ping.targetTransferTag() != Pdu.RESERVED_TAG && !(answer && ping.targetTransferTag() == PING_TAG)) {
            reject(ping, RejectPdu.INVALID_PDU_FIELD);
            return;
        }
        setup.window().count(ping);
        if (answer) {
            return;
        }
        int limit = Math.min(data.remaining(), setup.parameters().peerDataSegmentBytes());
        nopIn.begin(ping.initiatorTaskTag(), Pdu.RESERVED_TAG, ping.lunField());
        setup.datamover().sendControl(nopIn, data.limit(data.position() + limit), true);
    }

    private void textRequest(TextRequestPdu received, ByteBuffer data) throws IOException {
        if (!inOrder(received)) {
            return;
        }
        int reason = exchange.take(received, data);
        if (reason != 0) {
            reject(received, reason);
            return;
        }
        setup.window().count(received);
        text.clear().limit(Math.min(text.capacity(), setup.parameters().peerDataSegmentBytes()));
        exchange.respond(textResponse, text);
        setup.datamover().sendControl(textResponse, text.flip(), true);
    }

    private void logout(LogoutRequestPdu received) throws IOException {
        if (!inOrder(received)) {
            return;
        }
        int response;
        switch (received.reason()) {
            case LogoutRequestPdu.CLOSE_SESSION -> response = LogoutResponsePdu.SUCCESS;
            case LogoutRequestPdu.CLOSE_CONNECTION -> response = received.cid() == setup.cid()
                ? LogoutResponsePdu.SUCCESS
                : LogoutResponsePdu.CID_NOT_FOUND;
            case LogoutRequestPdu.RECOVER_CONNECTION -> response = LogoutResponsePdu.RECOVERY_NOT_SUPPORTED;
            default -> {
                reject(received, RejectPdu.INVALID_PDU_FIELD);
                return;
            }
        }
        setup.window().count(received);
        loggedOut = response == LogoutResponsePdu.SUCCESS;
        setup.datamover().sendControl(logoutResponse.begin(received.initiatorTaskTag(), response), null, true);
    }

    private void manage(TaskManagementRequestPdu received) throws IOException {
        if (!inOrder(received)) {
            return;
        }
        if (setup.discovery()) {
            reject(received, RejectPdu.PROTOCOL_ERROR);
            return;
        }
        setup.window().count(received);
        int response = TaskManagement.perform(received, setup.target(), this, tasks, connection);
        if (response == TaskManagementResponsePdu.FUNCTION_AUTHORIZATION_FAILED) {
            Nexus nexus = connection.nexus();
            connection
                .denied("task management function " + received.function() + " needs rights that user '" + nexus.user()
                    + "' lacks as initiator " + nexus.initiatorName());
        }
        if (response == TaskManagementResponsePdu.TASK_DOES_NOT_EXIST
            && setup.window().plug(received.refCmdSn(), received.cmdSn())) {
            response = TaskManagementResponsePdu.FUNCTION_COMPLETE;
        }
        setup.datamover().sendControl(
            managementResponse.begin(received.initiatorTaskTag(), response), null, true);
    }

    @Override
    public void dataCompletionNotify(DataTransfer transfer) throws IOException {
        runner.run(setup.window().slot(transfer.slot()));
    }

    @Override
    public void putCompletionNotify(DataTransfer transfer) {
        putter.putEnded(setup.window().slot(transfer.slot()));
    }

    @Override
    public void dataErrorNotify(DataTransfer transfer, DataError error) throws IOException {
        runner.failData(setup.window().slot(transfer.slot()), error);
    }

    @Override
    public void discardNotify(Pdu pdu, int reason) throws IOException {
        if (faults.add()) {
            LOG.warn(
                "a PDU from {} was rejected with reject reason {}; the opcode of the PDU is {} (faulty PDUs of this"
                    + " connection so far: {})",
                setup.datamover().peer(), PlainText.format("%02Xh", reason),
                PlainText.format("%02Xh", pdu.opcode()), faults.count());
        }
        reject(pdu, reason);
    }

    /** Continues a task that was scheduled for the responder thread. Called by the responder thread. */
    void goOn(TaskSlot task) throws IOException {
        runner.goOn(task);
    }

    /** Aborts the tasks on a unit, or all tasks if {@code unit} is null. Called by another session's receiver thread. */
    void abortForOther(LogicalUnit unit) {
        tasks.end(EndReason.ABORTED_BY_OTHER, unit);
    }

    /** Establishes the unit attention for a reset of {@code unit}; null means all units. Can be called by any thread. */
    void tellOfReset(LogicalUnit unit) {
        attentions.establish(unit, UnitAttentions.Condition.RESET);
    }

    /**
     * Establishes the unit attention for the changed state of the target port group. If the group is not active, ends the waiting
     * tasks with the sense of the group's state. Can be called by any thread.
     */
    void accessStateChanged() {
        attentions.establish(null, UnitAttentions.Condition.ACCESS_STATE_CHANGED);
        if (setup.portGroups().state() != AccessState.ACTIVE) {
            tasks.end(EndReason.ACCESS_STATE_CHANGED, null);
        }
    }

    /** Ends tasks that have waited too long. Closes the connection if announced data is overdue. Called by the watchdog. */
    void tick(long nowNs, long dataLimitNs, long waitLimitNs) {
        if (tasks.tick(nowNs, dataLimitNs, waitLimitNs)) {
            connection.closeFor("the initiator did not send the data that it had announced");
        }
    }

    /** Frees the slots of all tasks. Called when the connection is closed and no other thread serves the connection any more. */
    void abandonAll() {
        tasks.abandonAll();
    }
}
