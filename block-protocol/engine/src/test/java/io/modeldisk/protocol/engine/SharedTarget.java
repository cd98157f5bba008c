package io.modeldisk.protocol.engine;

import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** Starts one server and logs in one initiator for all tests of a class, because a server for each test would take longer. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SharedTarget extends ServedTarget {
    @Override
    @BeforeAll
    void serve() throws IOException {
        super.serve();
    }

    @Override
    @AfterAll
    void end() throws IOException {
        super.end();
    }
}
