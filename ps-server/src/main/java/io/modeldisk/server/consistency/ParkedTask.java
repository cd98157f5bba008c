package io.modeldisk.server.consistency;

import io.modeldisk.protocol.engine.IoTask;

/** An entry in the list of tasks that wait at a block, or in a chain of tasks that were removed from such lists. */
final class ParkedTask {
    IoTask task;
    ParkedTask next;
}
