package io.modeldisk.protocol.engine;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;

/** A server of one target and a logged-in initiator, which a test opens. After each test, the server holds no resources. */
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
