package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.pdu.Opcode;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** An initiator that sends exactly the bytes that a test gives it, including bytes that a correct initiator never sends. */
public final class RawInitiator implements AutoCloseable {
    static final int READ = 0xC0;
    static final int WRITE = 0xA0;
    static final int WRITE_MORE_FOLLOWS = 0x20;
    static final int NO_DATA = 0x80;
    public static final int NONE = 0xFFFFFFFF;
    static final byte[] EMPTY = {};

    private static final int PATIENCE_MS = 10_000;

    final Socket socket = new Socket();
    int cmdSn = 1;
    int expStatSn;
    int maxCmdSn;
    /** True if headers have digests. Set by {@link #loggedIn}. */
    boolean headerDigests;
    /** True if data segments have digests. Set by {@link #loggedIn}. */
    boolean dataDigests;
    private int nextTag = 100;
    private final DataInputStream in;

    /** A PDU from the target. */
    public record Reply(ByteBuffer header, byte[] data) {
        int opcode() {
            return header.get(0) & 0x3F;
        }

        int flags() {
            return header.get(1) & 0xFF;
        }

        int u8(int at) {
            return header.get(at) & 0xFF;
        }

        int u32(int at) {
            return header.getInt(at);
        }

        int tag() {
            return u32(16);
        }

        int targetTransferTag() {
            return header.getInt(20);
        }

        int statSn() {
            return header.getInt(24);
        }

        int expCmdSn() {
            return header.getInt(28);
        }

        int maxCmdSn() {
            return header.getInt(32);
        }

        /** Returns ExpDataSN of a SCSI Response, DataSN of a Data-In, or R2TSN of an R2T. */
        int expDataSn() {
            return header.getInt(36);
        }

        /** Returns the buffer offset of a Data-In or an R2T. */
        int bufferOffset() {
            return header.getInt(40);
        }

        /** Returns the desired data length of an R2T, or the residual count of a response. */
        int lastField() {
            return header.getInt(44);
        }

        int loginStatus() {
            return header.getShort(36) & 0xFFFF;
        }

        Map<String, String> text() {
            Map<String, String> keys = new LinkedHashMap<>();
            for (String pair : new String(data, StandardCharsets.UTF_8).split("\0")) {
                if (!pair.isEmpty()) {
                    keys.put(pair.substring(0, pair.indexOf('=')), pair.substring(pair.indexOf('=') + 1));
                }
            }
            return keys;
        }
    }

    /** The result of a SCSI command. */
    record End(int status, byte[] data, int residual, boolean overflow, boolean underflow, byte[] sense, Reply last) {
        /** Returns the sense key, the additional sense code and the qualifier as one number, such as 0x52400. */
        int senseCode() {
            return (sense[4] & 0xF) << 16 | (sense[14] & 0xFF) << 8 | sense[15] & 0xFF;
        }

        /** Returns the sense-key specific bytes with the field pointer, such as 0xCF0002 for bit 7 of byte 2. */
        int fieldPointer() {
            return ByteBuffer.wrap(sense).getInt(2 + 14) & 0xFFFFFF;
        }

        /** Returns the INFORMATION field, or -1 if the field is not valid. */
        int information() {
            return (sense[2] & 0x80) == 0 ? -1 : ByteBuffer.wrap(sense).getInt(2 + 3);
        }
    }

    public RawInitiator(InetSocketAddress address) throws IOException {
        this(address, null);
    }

    /** Connects to the target from the local address {@code from}. If {@code from} is null, uses any local address. */
    RawInitiator(InetSocketAddress address, String from) throws IOException {
        if (from != null) {
            socket.bind(new InetSocketAddress(from, 0));
        }
        socket.setTcpNoDelay(true);
        socket.connect(address, PATIENCE_MS);
        socket.setSoTimeout(PATIENCE_MS);
        in = new DataInputStream(socket.getInputStream());
    }

    /** Logs in with the initiator name {@code name} and with further {@code keys}. Clears the unit attention of LUN 0. */
    static RawInitiator loggedIn(TargetServer server, String name, String... keys) throws IOException {
        RawInitiator initiator = justLoggedIn(server, name, keys);
        End attention = initiator.testUnitReady();
        if (attention.status() != 2 || attention.senseCode() != SenseCodes.POWER_ON) {
            throw new IOException("the first command after the login reported no unit attention: " + attention);
        }
        return initiator;
    }

    /** Logs in like {@link #loggedIn}, but sends no SCSI command, so the unit attention of LUN 0 stays pending. */
    static RawInitiator justLoggedIn(TargetServer server, String name, String... keys) throws IOException {
        RawInitiator initiator = new RawInitiator(server.localAddress());
        String[] all = new String[keys.length + 3];
        all[0] = "InitiatorName=" + name;
        all[1] = "TargetName=" + MemoryTarget.NAME;
        all[2] = "SessionType=Normal";
        System.arraycopy(keys, 0, all, 3, keys.length);
        Reply reply = initiator.login(1, 3, all);
        if (reply.loginStatus() != 0 || (reply.flags() & 0x83) != 0x83) {
            throw new IOException("the login failed with status %04Xh".formatted(reply.loginStatus()));
        }
        initiator.headerDigests = "CRC32C".equals(reply.text().get("HeaderDigest"));
        initiator.dataDigests = "CRC32C".equals(reply.text().get("DataDigest"));
        return initiator;
    }

    static byte[] text(String... pairs) {
        return pairs.length == 0 ? EMPTY : (String.join("\0", pairs) + "\0").getBytes(StandardCharsets.UTF_8);
    }

    /** Sends a Login Request and returns the response. If {@code next} is negative, the request contains no stage transition. */
    public Reply login(int stage, int next, String... pairs) throws IOException {
        send(loginHeader(stage, next), text(pairs));
        return receive();
    }

    ByteBuffer loginHeader(int stage, int next) {
        ByteBuffer header = header(0x43, stage << 2 | (next < 0 ? 0 : 0x80 | next));
        return header.putLong(8, 0x800000000001L << 16).putInt(24, cmdSn).putInt(28, expStatSn);
    }

    static ByteBuffer header(int opcode, int flags) {
        return ByteBuffer.allocate(48).put(0, (byte) opcode).put(1, (byte) flags);
    }

    /** Returns a request header with the next CmdSN. */
    ByteBuffer request(int opcode, int flags, int tag) {
        int number = (opcode & 0x40) == 0 ? cmdSn++ : cmdSn;
        return header(opcode, flags).putInt(16, tag).putInt(24, number).putInt(28, expStatSn);
    }

    int newTag() {
        return nextTag++;
    }

    void send(ByteBuffer header, byte[] data) throws IOException {
        header.putInt(4, header.getInt(4) & 0xFF000000 | data.length);
        sendBytes(encode(header, data));
    }

    /** Returns the bytes of a PDU with the negotiated digests. */
    byte[] encode(ByteBuffer header, byte[] data) {
        int padded = data.length + 3 & -4;
        ByteBuffer all = ByteBuffer.allocate(header.capacity() + 4 + padded + 4).put(header.array());
        if (headerDigests) {
            all.put(Crc32c.digest(header.array()));
        }
        all.put(data).put(new byte[padded - data.length]);
        if (dataDigests && data.length > 0) {
            all.put(Crc32c.digest(Arrays.copyOf(data, padded)));
        }
        return Arrays.copyOf(all.array(), all.position());
    }

    void sendBytes(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /** Sends a SCSI command to LUN 0. Returns the task tag of the command. */
    int command(int flags, byte[] cdb, int expectedBytes, byte[] immediateData) throws IOException {
        return command(0x01, flags, 0, cdb, expectedBytes, immediateData);
    }

    int command(int opcode, int flags, long lun, byte[] cdb, int expectedBytes, byte[] immediateData)
        throws IOException {
        int tag = newTag();
        ByteBuffer header = request(opcode, flags | 1, tag).putLong(8, lun << 48).putInt(20, expectedBytes);
        header.put(32, cdb);
        send(header, immediateData);
        return tag;
    }

    void dataOut(int tag, int transferTag, int dataSn, int offset, byte[] data, boolean last) throws IOException {
        send(header(0x05, last ? 0x80 : 0).putInt(16, tag).putInt(20, transferTag).putInt(28, expStatSn)
            .putInt(36, dataSn).putInt(40, offset), data);
    }

    /** Sends an immediate task management function. Returns the response code. */
    public int manage(int function, int referencedTag) throws IOException {
        int tag = newTag();
        send(request(0x42, 0x80 | function, tag).putInt(20, referencedTag), EMPTY);
        Reply reply = receive();
        while (reply.opcode() != Opcode.TASK_MANAGEMENT_RESPONSE) {
            reply = receive();
        }
        return reply.u8(2);
    }

    /** Sends a ping and returns the next PDU. The next PDU is the response to the ping if the target has no other PDU to send. */
    Reply ping(byte[] data) throws IOException {
        send(request(0x40, 0x80, newTag()).putInt(20, NONE), data);
        return receive();
    }

    Reply receive() throws IOException {
        byte[] header = new byte[48];
        in.readFully(header);
        ByteBuffer bhs = ByteBuffer.wrap(header);
        checkDigest(headerDigests, header);
        int length = bhs.getInt(4) & 0xFFFFFF;
        byte[] padded = new byte[length + 3 & -4];
        in.readFully(padded);
        checkDigest(dataDigests && length > 0, padded);
        byte[] data = Arrays.copyOf(padded, length);
        Reply reply = new Reply(bhs, data);
        boolean carriesStatus = reply.opcode() != Opcode.R2T
            && (reply.opcode() != Opcode.DATA_IN || (reply.flags() & 1) != 0)
            && (reply.opcode() != Opcode.NOP_IN || reply.tag() != NONE);
        if (carriesStatus) {
            expStatSn = reply.statSn() + 1;
        }
        maxCmdSn = reply.maxCmdSn();
        return reply;
    }

    private void checkDigest(boolean agreed, byte[] bytes) throws IOException {
        if (agreed && !Arrays.equals(in.readNBytes(4), Crc32c.digest(bytes))) {
            throw new IOException("the target sent a wrong digest");
        }
    }

    /** Receives PDUs until a command has completed. Returns the result with the data of all Data-In PDUs. */
    End end(int tag) throws IOException {
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        while (true) {
            Reply reply = receive();
            if (reply.tag() != tag) {
                throw new IOException("the target sent opcode %02Xh for tag %d, but tag %d was expected"
                    .formatted(reply.opcode(), reply.tag(), tag));
            }
            if (reply.opcode() == Opcode.DATA_IN) {
                if (reply.bufferOffset() != data.size()) {
                    throw new IOException("the target sent Data-In at offset " + reply.bufferOffset() + ", but offset "
                        + data.size() + " was expected");
                }
                data.writeBytes(reply.data());
            }
            if (reply.opcode() == Opcode.SCSI_RESPONSE
                || reply.opcode() == Opcode.DATA_IN && (reply.flags() & 1) != 0) {
                return ended(reply, data.toByteArray());
            }
        }
    }

    private static End ended(Reply reply, byte[] data) {
        return new End(reply.u8(3), data, reply.lastField(), (reply.flags() & 4) != 0, (reply.flags() & 2) != 0,
            reply.opcode() == Opcode.SCSI_RESPONSE ? reply.data() : EMPTY, reply);
    }

    /** Sends the data that R2Ts request, in PDUs of at most {@code pduBytes}, until the response to the command arrives. */
    End serveR2ts(byte[] data, int pduBytes) throws IOException {
        Reply reply = receive();
        while (reply.opcode() == Opcode.R2T) {
            answerR2t(reply, data, pduBytes);
            reply = receive();
        }
        return ended(reply, EMPTY);
    }

    /** Sends the data that an R2T requests, in PDUs of at most {@code pduBytes}. */
    void answerR2t(Reply r2t, byte[] data, int pduBytes) throws IOException {
        int at = r2t.bufferOffset();
        int end = at + r2t.lastField();
        for (int sn = 0; at < end; sn++) {
            int next = Math.min(end, at + pduBytes);
            dataOut(r2t.tag(), r2t.targetTransferTag(), sn, at, Arrays.copyOfRange(data, at, next), next == end);
            at = next;
        }
    }

    End run(int flags, byte[] cdb, int expectedBytes, byte[] immediateData) throws IOException {
        return end(command(flags, cdb, expectedBytes, immediateData));
    }

    End testUnitReady() throws IOException {
        return run(NO_DATA, cdb(0), 0, EMPTY);
    }

    /** Receives PDUs until the connection is closed or a timeout passes. Returns whether the target has closed the connection. */
    boolean isClosedByTarget() throws IOException {
        try {
            while (true) {
                receive();
            }
        } catch (EOFException | SocketException e) {
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    static byte[] cdb16(int opcode, long lba, int blocks) {
        return ByteBuffer.allocate(16).put(0, (byte) opcode).putLong(2, lba).putInt(10, blocks).array();
    }

    static byte[] write(long lba, int blocks) {
        return cdb16(0x8A, lba, blocks);
    }

    static byte[] read(long lba, int blocks) {
        return cdb16(0x88, lba, blocks);
    }

    static byte[] cdb(int... bytes) {
        byte[] cdb = new byte[16];
        for (int i = 0; i < bytes.length; i++) {
            cdb[i] = (byte) bytes[i];
        }
        return cdb;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
