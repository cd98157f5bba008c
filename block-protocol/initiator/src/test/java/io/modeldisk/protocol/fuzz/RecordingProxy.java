package io.modeldisk.protocol.fuzz;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Relays bytes between an initiator and a target, and stores the bytes of both peers as seeds. The arguments are the port to
 * listen on, the target's port on this machine, the folder of the seeds, the name of the seeds, and the maximum number of bytes
 * in a seed.
 *
 * <p>The initiator's bytes become a seed of {@link FuzzTarget#CONNECTION}. The target's bytes become a seed of
 * {@link FuzzTarget#SESSION}. Each seed contains the login.
 */
final class RecordingProxy {
    private final Path folder;
    private final String name;
    private final int limit;

    private RecordingProxy(Path folder, String name, int limit) {
        this.folder = folder;
        this.name = name;
        this.limit = limit;
    }

    public static void main(String[] arguments) throws IOException {
        int targetPort = Integer.parseInt(arguments[1]);
        RecordingProxy proxy = new RecordingProxy(Path.of(arguments[2]), arguments[3], Integer.parseInt(arguments[4]));
        try (ServerSocket listener = new ServerSocket(Integer.parseInt(arguments[0]), 10,
            InetAddress.getLoopbackAddress())) {
            for (int connection = 0;; connection++) {
                Socket initiator = listener.accept();
                Socket target = new Socket(InetAddress.getLoopbackAddress(), targetPort);
                int number = connection;
                Thread.ofPlatform().start(() -> proxy.copy(initiator, target, FuzzTarget.CONNECTION, number));
                Thread.ofPlatform().start(() -> proxy.copy(target, initiator, FuzzTarget.SESSION, number));
            }
        }
    }

    private void copy(Socket from, Socket to, FuzzTarget fuzzed, int connection) {
        Path seed = folder.resolve(fuzzed.folder()).resolve(name + "-" + connection);
        try (from; to; OutputStream kept = Files.newOutputStream(seed)) {
            kept.write(0);
            InputStream in = from.getInputStream();
            byte[] buffer = new byte[65536];
            int left = limit;
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                int part = Math.min(count, left);
                kept.write(buffer, 0, part);
                left -= part;
                to.getOutputStream().write(buffer, 0, count);
            }
        } catch (IOException e) {
            System.err.println("the relay of connection " + connection + " has failed: " + e);
        }
    }
}
