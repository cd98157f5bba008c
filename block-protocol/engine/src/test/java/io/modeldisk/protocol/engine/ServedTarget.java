package io.modeldisk.protocol.engine;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;

/**
 * Closes the server and the initiator that a test has opened. Checks after each test that the server holds no resources of the
 * initiator.
 */
abstract class ServedTarget {
    Serving serving;
    RawInitiator raw;

    @AfterEach
    void end() throws IOException {
        raw.close();
        serving.awaitNothingLeft();
        serving.close();
    }
}
