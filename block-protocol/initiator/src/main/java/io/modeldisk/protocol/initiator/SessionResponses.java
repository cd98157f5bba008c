package io.modeldisk.protocol.initiator;

import io.modeldisk.platform.text.PeerText;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorTask;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.initiator.SessionLife.State;
import io.modeldisk.protocol.pdu.AsyncMessagePdu;
import io.modeldisk.protocol.pdu.DataInPdu;
import io.modeldisk.protocol.pdu.NopInPdu;
import io.modeldisk.protocol.pdu.NopOutPdu;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.RejectPdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import io.modeldisk.protocol.pdu.ScsiResponsePdu;
import io.modeldisk.protocol.pdu.TaskManagementResponsePdu;
import io.modeldisk.protocol.scsi.AccessState;
import io.modeldisk.protocol.scsi.ScsiStatus;
import io.modeldisk.protocol.scsi.Sense;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Locale;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Handles the PDUs of a target, and completes commands when their responses arrive. Only the receiving thread calls the methods,
 * except {@link #task}, which is thread-safe.
 */
record SessionResponses(ShardId shard, SessionNumbers numbers, InitiatorDatamover datamover, TaskAborts aborts,
    SessionLife life) implements InitiatorDatamover.Listener {
    private static final Logger LOG = LogManager.getLogger(SessionResponses.class);
    private static final int SENSE_LENGTH_BYTES = 2;
    private static final int MIN_SENSE_BYTES = 14;
    /**
     * The status of a command whose SCSI Response reports a target failure (RFC 7143 section 11.4.3). No SCSI status has
     * this value.
     */
    private static final int TARGET_FAILURE = 0xFF;

    /**
     * Fails all commands in flight, because the session is closed. A transfer that the target did not accept, according to
     * {@code farewell}, ends with status BUSY, so its caller sends it again.
     *
     * @param farewell the target's announcement that it closes the session; null if there was none
     */
    void failAll(ShardException reason, FarewellException farewell) {
        for (IoRequest request : numbers.requests()) {
            boolean refused = farewell != null && request.isInFlight() && request.isTransferFrom(farewell.expCmdSn());
            if (refused) {
                request.ended(ScsiStatus.BUSY, 0, null);
            }
            complete(request, refused ? null : reason);
        }
    }

    @Override
    public InitiatorTask task(int initiatorTaskTag) {
        IoRequest[] requests = numbers.requests();
        int slot = IoRequest.slotOf(initiatorTaskTag);
        if (slot >= requests.length) {
            return null;
        }
        IoRequest request = requests[slot];
        return request.isInFlight() && request.initiatorTaskTag() == initiatorTaskTag ? request : null;
    }

    @Override
    public void controlNotify(Pdu pdu, ByteBuffer data) throws IOException {
        switch (pdu.opcode()) {
            case Opcode.DATA_IN -> dataInWithStatus((DataInPdu) pdu);
            case Opcode.SCSI_RESPONSE -> scsiResponse(new ScsiResponsePdu(pdu.header()), data);
            case Opcode.NOP_IN -> nopIn(new NopInPdu(pdu.header()));
            case Opcode.TASK_MANAGEMENT_RESPONSE -> {
                TaskManagementResponsePdu response = new TaskManagementResponsePdu(pdu.header());
                numbers.received(response);
                endAborted();
                aborts.answered(false);
            }
            case Opcode.LOGOUT_RESPONSE -> {
                numbers.received(new ResponsePdu(pdu.header()));
                if (life.state() == State.LOGGING_OUT) {
                    life.advance(State.LOGGED_OUT);
                }
            }
            case Opcode.ASYNC_MESSAGE -> {
                AsyncMessagePdu message = new AsyncMessagePdu(pdu.header());
                numbers.received(message);
                if (message.event() == AsyncMessagePdu.SESSION_DROPPED) {
                    throw new FarewellException(message.expCmdSn());
                }
                LOG.info("{} sent an asynchronous message with event {}", shard, message.event());
            }
            case Opcode.REJECT -> throw new ProtocolException(
                PlainText.format("the target rejected a PDU (reason %02Xh)", new RejectPdu(pdu.header()).reason()));
            default -> throw new ProtocolException(
                PlainText.format("the target sent a PDU with the unknown opcode %02Xh", pdu.opcode()));
        }
    }

    private void dataInWithStatus(DataInPdu pdu) {
        numbers.received(pdu);
        end(pdu.initiatorTaskTag(), pdu.status(), 0, null);
    }

    private void scsiResponse(ScsiResponsePdu pdu, ByteBuffer data) throws IOException {
        numbers.received(pdu);
        int sense = 0;
        String words = null;
        if (data.remaining() >= SENSE_LENGTH_BYTES + MIN_SENSE_BYTES) {
            int at = data.position() + SENSE_LENGTH_BYTES;
            sense = (data.get(at + 2) & 0xF) << 16 | (data.get(at + 12) & 0xFF) << 8 | data.get(at + 13) & 0xFF;
            words = words(sense, data, Math.min(data.getShort(data.position()), data.remaining() - SENSE_LENGTH_BYTES));
        }
        int status = pdu.response() == 0 ? pdu.status() : TARGET_FAILURE;
        if (status == ScsiStatus.CHECK_CONDITION) {
            checkAccessState(sense);
        }
        end(pdu.initiatorTaskTag(), status, sense, words);
    }

    /** Returns the words of sense data that reports a missing right; null for other sense data, which has no words. */
    private static String words(int sense, ByteBuffer data, int senseBytes) {
        if (senseBytes <= 0 || !RoundSense.NO_RIGHT.sense().equals(unpack(sense))) {
            return null;
        }
        byte[] encoded = new byte[senseBytes];
        data.get(data.position() + SENSE_LENGTH_BYTES, encoded);
        String words = Sense.wordsOf(encoded);
        return words == null ? null : PeerText.printable(words);
    }

    private static Sense unpack(int sense) {
        return Sense.of(sense >> 16, sense >> 8 & 0xFF, sense & 0xFF);
    }

    /**
     * Throws an exception if the sense data shows that another process serves the target's logical units. The exception closes
     * the session. The session's commands then fail as after a lost connection, and their callers connect to the process that
     * serves the shard.
     */
    private static void checkAccessState(int sense) throws IOException {
        AccessState state = AccessState.ofSense(unpack(sense));
        if (state != null) {
            throw new IOException(
                "the target does not serve the shard at this address now; the state of its port group is "
                    + state.name().toLowerCase(Locale.ROOT));
        }
    }

    private void end(int tag, int status, int sense, String words) {
        IoRequest request = (IoRequest) task(tag);
        if (request != null) {
            request.ended(status, sense, words);
            complete(request, null);
        }
    }

    /** Fails the aborted command on the receiving thread, so later data for this command is dropped. */
    private void endAborted() {
        IoRequest request = (IoRequest) task(aborts.abortingTag());
        if (request != null) {
            complete(request, new ShardException(ShardException.Kind.PATH_LOST, shard,
                shard + ": this initiator aborted the command"));
        }
    }

    private void nopIn(NopInPdu ping) {
        numbers.window(ping);
        if (ping.targetTransferTag() == Pdu.RESERVED_TAG) {
            return;
        }
        NopOutPdu answer = new NopOutPdu(Pdu.newHeader()).beginAnswer(ping.lunField(), ping.targetTransferTag());
        // Another thread sends the response, because a send can block until the target receives. The receiving thread must never
        // block.
        ThreadName.PING_ANSWER.builder(shard.address()).start(() -> {
            try {
                datamover.sendControl(answer, null);
            } catch (IOException e) {
                LOG.debug("the response to a ping from {} could not be sent: {}", shard, e.toString());
            }
        });
    }

    private void complete(IoRequest request, ShardException reason) {
        if (!request.move(IoRequest.State.IN_FLIGHT, IoRequest.State.ENDED)) {
            return;
        }
        if (reason != null) {
            request.failed(reason);
        }
        try {
            request.completion().completed(request);
        } finally {
            numbers.ended(request);
        }
    }
}
