package io.modeldisk.bench.micro;

import io.modeldisk.bench.load.Requester;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A group of requesters and of subgroups. Closing the group closes all its members. Not thread-safe. */
final class Clients implements AutoCloseable {
    private final List<Requester> requesters = new ArrayList<>();
    private final List<Clients> groups = new ArrayList<>();

    <T extends Requester> T add(T requester) {
        requesters.add(requester);
        return requester;
    }

    Clients add(Clients group) {
        groups.add(group);
        return group;
    }

    List<Requester> all() {
        return Collections.unmodifiableList(requesters);
    }

    @Override
    public void close() {
        groups.forEach(Clients::close);
        // All requesters are closed in parallel, since closing a requester may wait for a response.
        List<Thread> closing = requesters.stream().map(requester -> Thread.startVirtualThread(requester::close))
            .toList();
        try {
            for (Thread thread : closing) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
