package io.modeldisk.doctor.collect;

import io.modeldisk.platform.text.PlainText;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.VpdPage;
import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.Isid;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.UnitReadiness;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.striping.ModelAddress;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The facts and the status of shards. Each is read over a session of its own, so that one that hangs does not hide others. */
final class ShardStatusItems {
    private static final Duration BOUND = Duration.ofSeconds(4);
    private static final String INITIATOR = "iqn.2026-11.io.modeldisk.learner:status-doctor";

    private ShardStatusItems() {}

    /**
     * Returns an item for each shard of the model, and for each shard that runs on this machine. {@code model} and {@code
     * secrets} may be null.
     */
    static List<Item> of(ModelAddress model, List<ModeldiskProcess> processes, ChapSecrets secrets) {
        Map<InetSocketAddress, String> shards = new LinkedHashMap<>();
        if (model != null) {
            model.shards().forEach(shard -> shards.put(shard, model.model()));
        }
        for (ModeldiskProcess process : processes) {
            String name = process.option("--model");
            if (process.command().equals("serve") && name != null) {
                shards.putIfAbsent(address(process.option("--listen")), name);
            }
        }
        List<Item> items = new ArrayList<>();
        shards.forEach((shard, name) -> items
            .add(new Item("shards/" + TargetAddress.text(shard).replaceAll("[\\[\\]:]", "_") + ".json",
                () -> pages(shard, name, secrets))));
        return items;
    }

    private static InetSocketAddress address(String listen) {
        InetSocketAddress address = ModelAddress.parsePortal(listen == null ? "127.0.0.1" : listen,
            TargetContext.DEFAULT_PORT);
        return address.getAddress() != null && address.getAddress().isAnyLocalAddress()
            ? new InetSocketAddress(InetAddress.getLoopbackAddress(), address.getPort())
            : address;
    }

    private static String pages(InetSocketAddress shard, String model, ChapSecrets secrets) throws Exception {
        if (shard.getPort() == 0) {
            throw new IOException("the shard of model " + model + " was started with port 0, so its port is not known");
        }
        try (DataMemory memory = DataMemory.allocate(VpdPage.DATA_BYTES + 1);
            IscsiSession session = IscsiSession.login(new SessionContext().portal(shard)
                .targetName(ModelFacts.TARGET_PREFIX + model).initiator(INITIATOR, Isid.random()).learner("doctor")
                .secrets(secrets)
                .connectTimeout(BOUND).commandTimeout(BOUND))) {
            UnitReadiness.await(session, 0);
            return page(session, memory, ModelFacts.VPD_PAGE) + "\n" + page(session, memory, ModelFacts.STATUS_VPD_PAGE)
                + "\n";
        }
    }

    private static String page(IscsiSession session, DataMemory memory, int code)
        throws IOException, InterruptedException, ExecutionException, TimeoutException {
        CompletableFuture<String> ended = new CompletableFuture<>();
        IoRequest request = session.acquire(BOUND.toNanos());
        if (request == null) {
            throw new IOException("the shard accepts no command");
        }
        session.submit(request.control(0, VpdPage.cdb(code), memory, 0, VpdPage.DATA_BYTES)
            .onCompletion(done -> ended.complete(done.isGood() ? "" : done.describeEnd())));
        String failure = ended.get(BOUND.toNanos(), TimeUnit.NANOSECONDS);
        byte[] content = VpdPage.content(code, memory.segment(0, VpdPage.DATA_BYTES).toArray(ValueLayout.JAVA_BYTE));
        if (!failure.isEmpty() || content == null) {
            throw new IOException(PlainText.format("the shard has no VPD page %02Xh: %s", code, failure));
        }
        return new String(content, StandardCharsets.UTF_8);
    }
}
