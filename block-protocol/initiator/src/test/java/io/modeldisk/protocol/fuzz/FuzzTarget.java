package io.modeldisk.protocol.fuzz;

import io.modeldisk.protocol.engine.CommandFuzz;
import io.modeldisk.protocol.engine.ConnectionFuzz;
import io.modeldisk.protocol.initiator.SessionFuzz;
import io.modeldisk.protocol.login.NegotiationFuzz;
import java.util.Locale;
import java.util.function.Consumer;

/** The fuzz targets: methods that the fuzzer calls with its inputs. The seeds are in the resource folder {@code fuzz/NAME}. */
enum FuzzTarget {
    /** Fuzzes the bytes that an iSCSI target reads from a connection. */
    CONNECTION(ConnectionFuzz.class, ConnectionFuzz::fuzzerTestOneInput, 16384),
    /** Fuzzes the commands of a valid session and their data. */
    COMMAND(CommandFuzz.class, CommandFuzz::fuzzerTestOneInput, 4096),
    /** Fuzzes the text keys of an initiator and of a target. */
    NEGOTIATION(NegotiationFuzz.class, NegotiationFuzz::fuzzerTestOneInput, 2048),
    /** Fuzzes the bytes that an iSCSI initiator reads from a connection. */
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
