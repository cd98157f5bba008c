package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Starts the {@code modeldisk} command in a sandbox. */
final class Command {
    private static final Pattern READY = Pattern.compile("ready: shard .* on 127\\.0\\.0\\.1:(\\d+), .*");

    private Command() {}

    /** Starts one shard without waiting until the shard is ready. */
    static Running serve(Sandbox sandbox, Object... options) throws Exception {
        return sandbox.start("serve", with(new Object[]{"serve", "--listen", "127.0.0.1:0"}, options));
    }

    /** Starts a coordinator with the state in the directory {@code zk} of the sandbox. */
    static Running coordinator(Sandbox sandbox, String listen, Object... options) throws Exception {
        return sandbox.start("coordinator",
            with(new Object[]{"coordinator", "--listen", listen, "--state", sandbox.path("zk")}, options));
    }

    /** Waits until a shard is ready and returns its port. */
    static int port(Running shard) throws Exception {
        Matcher ready = READY.matcher(shard.awaitLine("ready: "));
        if (!ready.matches()) {
            throw new AssertionError("the ready line has no port; the output of the shard is: " + shard.output());
        }
        return Integer.parseInt(ready.group(1));
    }

    /** Starts all shards of a model and waits until they are ready. */
    static Shards serveAll(Sandbox sandbox, String model, int count, Object... options) throws Exception {
        return ready(model, startAll(sandbox, model, count, options));
    }

    /** Starts all shards of a model without waiting until the shards are ready. */
    static List<Running> startAll(Sandbox sandbox, String model, int count, Object... options) throws Exception {
        List<Running> shards = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Object[] place = {"--model", model, "--shard", i + "/" + count};
            shards.add(serve(sandbox, Stream.concat(Stream.of(place), Stream.of(options)).toArray()));
        }
        return shards;
    }

    /** Waits until the shards of a model are ready. */
    static Shards ready(String model, List<Running> shards) throws Exception {
        List<Integer> ports = new ArrayList<>();
        for (Running shard : shards) {
            ports.add(port(shard));
        }
        return new Shards(model, ports);
    }

    /** Starts a mount in the foreground without waiting until the mount is ready. */
    static Running mount(Sandbox sandbox, Shards shards, Path directory, Object... options) throws Exception {
        return sandbox.start("mount",
            with(new Object[]{"mount", shards.address(), directory, "--foreground"}, options));
    }

    private static String[] with(Object[] first, Object... options) {
        return modeldisk(Stream.concat(Stream.of(first), Stream.of(options)).toArray());
    }
}
