package io.modeldisk.admin;

import io.modeldisk.platform.Arguments;
import java.net.InetSocketAddress;
import javax.net.ssl.SSLContext;

/**
 * The settings of an {@link AdminServer}.
 *
 * @param address the address to listen on; with port 0, the kernel chooses a free port
 * @param token the token that clients must send; null if they need none
 * @param tls the certificate and key of the server; null for HTTP without TLS
 */
public record AdminSettings(InetSocketAddress address, AdminToken token, SSLContext tls) {
    /**
     * Checks the settings.
     *
     * @throws IllegalArgumentException if other machines could use the server without a token or TLS
     */
    public AdminSettings {
        Arguments.require(!address.isUnresolved(), "--admin: the host " + address.getHostString() + " is unknown");
        Arguments.require(address.getAddress().isLoopbackAddress() || token != null || tls != null, "--admin "
            + address.getHostString()
            + " is not a loopback address, so other machines could read the state of the model; give --admin-token FILE,"
            + " --admin-tls FILE or both, or listen on 127.0.0.1");
    }
}
