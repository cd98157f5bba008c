package io.modeldisk.server.consistency;

import io.modeldisk.protocol.engine.IoTask;

/** A link of the list of tasks that wait at a block, and of the chain of those that were taken off it. */
final class ParkedTask {
    IoTask task;
    ParkedTask next;
}
