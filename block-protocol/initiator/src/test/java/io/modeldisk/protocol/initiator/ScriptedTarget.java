package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.engine.Crc32c;
import io.modeldisk.protocol.pdu.Opcode;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/** A target that accepts one login and then sends the PDUs of a test, without regard to the PDUs that it receives. */
public final class ScriptedTarget implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket();
    private Socket socket;
    private DataInputStream in;
    private int statSn = 1;
    private int cmdSn = 1;
    private boolean headerDigests;
    private boolean dataDigests;

    public ScriptedTarget() throws IOException {
        listener.setReceiveBufferSize(8192);
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    public InetSocketAddress address() {
        return (InetSocketAddress) listener.getLocalSocketAddress();
    }

    /** Logs a session in to this target on another thread, and sends {@code answers} as the keys of the Login response. */
    Future<IscsiSession> logIn(SessionContext context, String... answers) throws IOException {
        FutureTask<IscsiSession> login = new FutureTask<>(() -> IscsiSession.login(context.portal(address())));
        Thread.ofVirtual().start(login);
        acceptLogin(answers);
        return login;
    }

    /** Accepts a connection and a login, and sends {@code answers} as the keys of the Login response. */
    public void acceptLogin(String... answers) throws IOException {
        accept();
        ByteBuffer request = receive();
        byte[] text = (String.join("\0", answers) + "\0").getBytes(StandardCharsets.UTF_8);
        send(pdu(Opcode.LOGIN_RESPONSE, 0x87).putLong(8, request.getLong(8) | 1), text);
        headerDigests = List.of(answers).contains("HeaderDigest=CRC32C");
        dataDigests = List.of(answers).contains("DataDigest=CRC32C");
    }

    void accept() throws IOException {
        socket = listener.accept();
        socket.setSoTimeout(10_000);
        in = new DataInputStream(socket.getInputStream());
    }

    /** Closes the sending direction of the connection, and waits until the initiator closes the connection. */
    void drain() throws IOException {
        socket.shutdownOutput();
        in.transferTo(OutputStream.nullOutputStream());
    }

    static ByteBuffer pdu(int opcode, int flags) {
        return ByteBuffer.allocate(48).put(0, (byte) opcode).put(1, (byte) flags);
    }

    /** Receives a PDU, drops its data, and returns its header. */
    public ByteBuffer receive() throws IOException {
        byte[] header = new byte[48];
        in.readFully(header);
        ByteBuffer bhs = ByteBuffer.wrap(header);
        checkDigest(headerDigests, header);
        byte[] data = in.readNBytes((bhs.getInt(4) & 0xFFFFFF) + 3 & -4);
        checkDigest(dataDigests && data.length > 0, data);
        if ((header[0] & 0x40) == 0) {
            cmdSn = bhs.getInt(24) + 1;
        }
        return bhs;
    }

    private void checkDigest(boolean agreed, byte[] bytes) throws IOException {
        if (agreed && !Arrays.equals(in.readNBytes(4), Crc32c.digest(bytes))) {
            throw new IOException("the initiator sent a wrong digest");
        }
    }

    /** Sends a PDU with the next status number and a large command window. */
    void send(ByteBuffer header, byte... data) throws IOException {
        sendBytes(encode(header, data));
    }

    void sendBytes(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /** Returns the bytes of a PDU with the next status number, a large command window, and the negotiated digests. */
    byte[] encode(ByteBuffer header, byte[] data) {
        header.putInt(4, data.length).putInt(24, statSn++).putInt(28, cmdSn).putInt(32, cmdSn + 1000);
        byte[] padded = Arrays.copyOf(data, data.length + 3 & -4);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(header.array());
        bytes.writeBytes(headerDigests ? Crc32c.digest(header.array()) : new byte[0]);
        bytes.writeBytes(padded);
        bytes.writeBytes(dataDigests && data.length > 0 ? Crc32c.digest(padded) : new byte[0]);
        return bytes.toByteArray();
    }

    public void respond(int tag, int status) throws IOException {
        send(pdu(Opcode.SCSI_RESPONSE, 0x80).putInt(16, tag).put(3, (byte) status));
    }

    @Override
    public void close() throws IOException {
        listener.close();
        if (socket != null) {
            socket.close();
        }
    }
}
