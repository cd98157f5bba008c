package io.modeldisk.protocol.fuzz;

import io.modeldisk.protocol.engine.CommandFuzz;
import io.modeldisk.protocol.engine.ConnectionFuzz;
import io.modeldisk.protocol.initiator.SessionFuzz;
import io.modeldisk.protocol.login.NegotiationFuzz;
import java.util.Locale;
import java.util.function.Consumer;

/** The fuzz targets. The seeds of each fuzz target are in the resource folder {@code fuzz/NAME}. */
enum FuzzTarget {
    /** All bytes that a target reads from a connection. */
    CONNECTION(ConnectionFuzz.class, ConnectionFuzz::fuzzerTestOneInput, 16384),
    /** Commands and their data in a valid session. */
    COMMAND(CommandFuzz.class, CommandFuzz::fuzzerTestOneInput, 4096),
    /** The text keys of an initiator and of a target. */
    NEGOTIATION(NegotiationFuzz.class, NegotiationFuzz::fuzzerTestOneInput, 2048),
    /** All bytes that an initiator reads from a connection. */
    SESSION(SessionFuzz.class, SessionFuzz::fuzzerTestOneInput, 16384);

    final Class<?> type;
    final Consumer<byte[]> run;
    final int maxInputBytes;

    FuzzTarget(Class<?> type, Consumer<byte[]> run, int maxInputBytes) {
        this.type = type;
        this.run = run;
        this.maxInputBytes = maxInputBytes;
    }

    String folder() {
        return name().toLowerCase(Locale.ROOT);
    }
}
