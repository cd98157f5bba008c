package io.modeldisk.protocol.target;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A device tells of the end of a put after its initiator has seen the status, and may have sent the next command: a slot is
 * found for that one, though the thread that takes it is the one that would be told.
 */
@Timeout(60)
class LatePutsTest {
    private static final int COMMANDS = 300;

    @Test
    void commandFindsASlotWhoseStatusItsInitiatorHasSeen() throws IOException {
        try (Serving serving = new Serving(context -> context.datamovers(List.of(LatePutsTest::open)));
            RawInitiator raw = serving.login()) {
            byte[] medium = serving.fill(1);
            for (int i = 0; i < COMMANDS; i++) {
                int block = i % 16;
                byte[] expected = Arrays.copyOfRange(medium, block * Serving.BLOCK,
                    (block + 1) * Serving.BLOCK);
                RawInitiator.End end = raw.run(RawInitiator.READ, RawInitiator.read(block, 1), Serving.BLOCK,
                    RawInitiator.EMPTY);
                assertThat(end.data()).isEqualTo(expected);
            }
        }
    }

    private static TargetPortal open(InetSocketAddress address, String targetName) throws IOException {
        TargetPortal tcp = new TcpPortal.Opener().open(address, targetName);
        return proxy(TargetPortal.class, tcp, (method, result) -> method.equals("accept")
            ? proxy(IncomingConnection.class, result, (name, opened) -> name.equals("open")
                ? proxy(TargetDatamover.class, opened, LatePutsTest::late)
                : opened)
            : result);
    }

    /** Every put is left under way, and nobody is ever told of its end. */
    private static Object late(String method, Object result) {
        return method.equals("putData") ? Boolean.FALSE : result;
    }

    /** What becomes of a call's result. */
    @FunctionalInterface
    private interface Twist {
        Object twist(String method, Object result);
    }

    private static <T> T proxy(Class<T> type, Object real, Twist twist) {
        InvocationHandler handler = (_, method, arguments) -> {
            try {
                return twist.twist(method.getName(), method.invoke(real, arguments));
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        };
        return type.cast(Proxy.newProxyInstance(LatePutsTest.class.getClassLoader(), new Class<?>[]{type}, handler));
    }
}
