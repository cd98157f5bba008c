package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Starts the {@code modeldisk} command in a sandbox. */
final class Command {
    private static final Pattern READY = Pattern.compile("ready: shard .* on 127\\.0\\.0\\.1:(\\d+), .*");

    private Command() {}

    /** Starts one shard without waiting until the shard is ready. */
    static Running serve(Sandbox sandbox, Object... options) throws Exception {
        return serveAt(sandbox, 0, options);
    }

    /**
     * Starts one shard at a port without waiting until the shard is ready. By default, the shard has the mode asp, in which a
     * test can push single blocks, and offers only the datamover tcp.
     */
    static Running serveAt(Sandbox sandbox, int port, Object... options) throws Exception {
        List<String> given = List.of(Sandbox.words((Object) options));
        List<String> more = new ArrayList<>();
        if (!given.contains("--consistency")) {
            more.addAll(List.of("--consistency", "asp"));
        }
        if (!given.contains("--datamover")) {
            more.addAll(List.of("--datamover", "tcp"));
        }
        return sandbox.start("serve", modeldisk("serve", "--listen", "127.0.0.1:" + port, more.toArray(), options));
    }

    /** Starts a coordinator with the state in the directory {@code zk} of the sandbox. */
    static Running coordinator(Sandbox sandbox, String listen, Object... options) throws Exception {
        return sandbox.start("coordinator",
            modeldisk("coordinator", "--listen", listen, "--state", sandbox.path("zk"), options));
    }

    /** Waits until a coordinator is ready and returns its address. */
    static String address(Running coordinator) throws Exception {
        return coordinator.awaitLine("ready: ").replaceFirst(".* on ([^,]*),.*", "$1");
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
            shards.add(serve(sandbox, "--model", model, "--shard", i + "/" + count, options));
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
        return sandbox.start("mount", modeldisk("mount", shards.address(), directory, "--foreground", options));
    }

    /** Starts a mount in the foreground and waits until the mount is ready. */
    static Running mounted(Sandbox sandbox, Shards shards, Path directory, Object... options) throws Exception {
        Running mount = mount(sandbox, shards, directory, options);
        mount.awaitLine("ready: ");
        return mount;
    }

    /** Returns ports that are free at the moment, for shards that must know the ports of all shards before they start. */
    static List<Integer> freePorts(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
        }
        for (ServerSocket socket : sockets) {
            socket.close();
        }
        return sockets.stream().map(ServerSocket::getLocalPort).toList();
    }
}
