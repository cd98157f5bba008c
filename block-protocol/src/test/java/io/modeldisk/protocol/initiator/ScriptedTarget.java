package io.modeldisk.protocol.initiator;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** A target that takes one login and then sends what a test wants, whatever it was sent. */
final class ScriptedTarget implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket();
    private Socket socket;
    private DataInputStream in;
    private int statSn = 1;
    private int cmdSn = 1;

    ScriptedTarget() throws IOException {
        listener.setReceiveBufferSize(8192);
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listener.getLocalSocketAddress();
    }

    /** Takes the login, with these answers. */
    void acceptLogin(String... answers) throws IOException {
        socket = listener.accept();
        socket.setSoTimeout(10_000);
        in = new DataInputStream(socket.getInputStream());
        ByteBuffer request = receive();
        byte[] text = (String.join("\0", answers) + "\0").getBytes(StandardCharsets.UTF_8);
        send(pdu(0x23, 0x87).putLong(8, request.getLong(8) | 1), text);
    }

    static ByteBuffer pdu(int opcode, int flags) {
        return ByteBuffer.allocate(48).put(0, (byte) opcode).put(1, (byte) flags);
    }

    /** Receives a header; its data is dropped. */
    ByteBuffer receive() throws IOException {
        byte[] header = new byte[48];
        in.readFully(header);
        ByteBuffer bhs = ByteBuffer.wrap(header);
        in.skipNBytes((bhs.getInt(4) & 0xFFFFFF) + 3 & -4);
        if ((header[0] & 0x40) == 0) {
            cmdSn = bhs.getInt(24) + 1;
        }
        return bhs;
    }

    /** Sends a PDU, with a status number and a wide window. */
    void send(ByteBuffer header, byte[] data) throws IOException {
        header.putInt(4, data.length).putInt(24, statSn++).putInt(28, cmdSn).putInt(32, cmdSn + 1000);
        socket.getOutputStream()
            .write(ByteBuffer.allocate(48 + (data.length + 3 & -4)).put(header.array()).put(data).array());
    }

    void respond(int tag, int status) throws IOException {
        send(pdu(0x21, 0x80).putInt(16, tag).put(3, (byte) status), new byte[0]);
    }

    @Override
    public void close() throws IOException {
        listener.close();
        if (socket != null) {
            socket.close();
        }
    }
}
