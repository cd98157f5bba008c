package io.modeldisk.protocol.datamover;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/** The iSER provider of an installation without the iser module. Every operation fails and reports the missing module. */
final class AbsentIser implements IserProvider {
    private static final String CAUSE = "modeldisk's iser module is not installed";

    @Override
    public String unavailabilityCause() {
        return CAUSE;
    }

    @Override
    public List<InetAddress> addresses() {
        return List.of();
    }

    @Override
    public TargetPortal.Opener opener() {
        return (_, _) -> {
            throw new IOException(CAUSE);
        };
    }

    @Override
    public Connections connections() {
        return AbsentPortal::new;
    }

    private record AbsentPortal(InetSocketAddress address) implements InitiatorPortal {
        @Override
        public String datamover() {
            return NAME;
        }

        @Override
        public String obstacle() {
            return CAUSE;
        }

        @Override
        public InitiatorDatamover connect(
            InitiatorDatamover.Numbering numbering, int queueDepth, long timeoutMs, NanoClock clock)
            throws IOException {
            throw new IOException(CAUSE);
        }
    }
}
