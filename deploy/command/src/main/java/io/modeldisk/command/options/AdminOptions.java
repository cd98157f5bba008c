package io.modeldisk.command.options;

import io.modeldisk.admin.AdminServer;
import io.modeldisk.admin.AdminSettings;
import io.modeldisk.admin.AdminSubject;
import io.modeldisk.admin.AdminTls;
import io.modeldisk.admin.AdminToken;
import io.modeldisk.admin.page.ModelPage;
import io.modeldisk.platform.Arguments;
import io.modeldisk.protocol.login.TargetAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The options of the HTTP server for operators. */
public final class AdminOptions {
    private static final int DEFAULT_PORT = 9326;

    @Option(names = "--admin", paramLabel = "HOST:PORT",
        description = "Answer the HTTP requests of operators at this address: / (a page that shows the whole model), /metrics "
            + "(Prometheus), /healthz (200, or 503 with the reason) and /status (JSON). With port 0, the process chooses a free "
            + "port. An address that is not loopback needs --admin-token, --admin-tls or both. Default: no such server.")
    private String address;

    @Option(names = "--admin-token", paramLabel = "FILE",
        description = "The file of the token that clients of --admin send (Authorization: Bearer TOKEN): one line, readable only "
            + "by its owner. Without the token, /healthz gives the status code, but no reason.")
    private Path token;

    @Option(names = "--admin-tls", paramLabel = "FILE",
        description = "The file of the certificate and of the key for HTTPS at --admin, in PEM, readable only by its owner.")
    private Path tls;

    /** Starts the server with the page of the model. Without the option {@code --admin}, no server is started. */
    public Admin start(AdminSubject subject) throws IOException {
        Admin admin = new Admin();
        AdminSettings settings = settings();
        if (settings != null) {
            admin.serve(AdminServer.start(settings, subject, new ModelPage(admin::overview).pages()));
        }
        return admin;
    }

    /** Returns the settings of the server; null without the option {@code --admin}. */
    public AdminSettings settings() throws IOException {
        if (address == null) {
            Arguments.require(token == null && tls == null,
                (token == null ? "--admin-tls" : "--admin-token") + " needs --admin HOST:PORT");
            return null;
        }
        InetSocketAddress listen = TargetAddress.parse(address, DEFAULT_PORT);
        if (listen.isUnresolved()) {
            throw new UnknownHostException("--admin: the host " + listen.getHostString() + " is unknown");
        }
        return new AdminSettings(listen, token == null ? null : AdminToken.read(token),
            tls == null ? null : AdminTls.read(tls));
    }
}
