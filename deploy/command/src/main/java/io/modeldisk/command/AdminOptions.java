package io.modeldisk.command;

import io.modeldisk.admin.AdminServer;
import io.modeldisk.admin.AdminSubject;
import io.modeldisk.protocol.striping.ModelAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import picocli.CommandLine.Option;

/** The options of the HTTP server for operators. */
final class AdminOptions {
    static final int DEFAULT_PORT = 9326;

    @Option(names = "--admin", paramLabel = "HOST:PORT",
        description = "Answer HTTP requests of operators at this address: /healthz, /status. With port 0, the process chooses a "
            + "free port. Default: no such server.")
    private String address;

    /** Starts the server. Returns null if the user wants none. */
    AdminServer start(AdminSubject subject) throws IOException {
        if (address == null) {
            return null;
        }
        InetSocketAddress at = ModelAddress.parsePortal(address, DEFAULT_PORT);
        if (at.getAddress() == null || !at.getAddress().isLoopbackAddress()) {
            throw new IllegalArgumentException("--admin " + address + " is not a loopback address");
        }
        return AdminServer.start(at, subject, List.of());
    }

    /** Returns the end of a ready line, which names the address of the server. */
    static String suffix(AdminServer server) {
        return server == null ? "" : ", admin " + server.url();
    }
}
