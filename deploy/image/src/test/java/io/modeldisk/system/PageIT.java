package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests the admin page in a browser while two learners train. */
@Timeout(300)
@Tag("mount")
@Execution(ExecutionMode.SAME_THREAD)
final class PageIT {
    private static final Path PICTURES = Path.of(System.getProperty("project.root"), "deploy", "image", "target",
        "page");
    private static final String HOSTILE = "<img/src=x/onerror=alert(1)>";
    private static final String LEARN = """
        import os, sys, time
        import numpy as np
        fd = os.open(sys.argv[1], os.O_RDWR)
        size = os.fstat(fd).st_size
        while True:
            weights = os.pread(fd, size, 0)
            time.sleep(float(sys.argv[2]))
            os.pwrite(fd, np.ones(size // 4, np.float32).tobytes(), 0)
            os.fsync(fd)
        """;
    /** A script that returns the clocks of the learners that the page shows. */
    private static final String CLOCKS = "return [...document.querySelectorAll('#learners tbody tr')]"
        + ".map(row => row.cells[2].innerText).join()";

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();
    private final List<Running> shards = new ArrayList<>();
    private String address;

    /** Starts two shards with {@code --peers}, and returns the URL of the admin page of the first shard. */
    private String serve() throws Exception {
        List<Integer> ports = Command.freePorts(2);
        String peers = ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
        address = "modeldisk://" + peers + "/digits";
        for (int i = 0; i < 2; i++) {
            shards.add(sandbox.start("serve", modeldisk("serve", "--model", "digits", "--size", "8MiB", "--shard",
                i + "/2", "--listen", "127.0.0.1:" + ports.get(i), "--peers", peers, "--aggregator", "sum",
                "--consistency", "bsp", "--learners", "2", "--admin", "127.0.0.1:0", "--state", sandbox.path("state"),
                "--checkpoint-every", "5s")));
        }
        shards.get(1).awaitLine("ready: ");
        return admin(shards.get(0));
    }

    private static String admin(Running process) throws Exception {
        String ready = process.awaitLine("ready: ");
        assertThat(ready).contains(", admin http://127.0.0.1:");
        return ready.substring(ready.indexOf("http://"));
    }

    /** Starts two mounts and their learners, and returns the URL of the admin page of the first mount. */
    private String learn() throws Exception {
        List<Running> mounts = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            mounts.add(sandbox.start("mount", modeldisk("mount", address, sandbox.directory("m" + i), "--foreground",
                "--learner", "gpu-" + i, "--exchange", "overlap", "--admin", "127.0.0.1:0")));
        }
        for (int i = 0; i < 2; i++) {
            mounts.get(i).awaitLine("ready: ");
            sandbox.start("learner", "python3", "-c", LEARN, sandbox.path("m" + i + "/model"), "0.1");
        }
        return admin(mounts.getFirst());
    }

    @Test
    void pageShowsTheTrainingInEveryWindowSizeAndColourScheme() throws Exception {
        Programs.requireLearners();
        Browser browser = Browser.start(sandbox);
        String shardPage = serve();
        String mountPage = learn();
        for (String page : List.of(shardPage, mountPage)) {
            for (int width : new int[]{1280, 400}) {
                for (String scheme : List.of("light", "dark")) {
                    browser.look(width, 900, scheme);
                    browser.open(page);
                    checkTraining(browser);
                    checkLayout(browser, width, scheme);
                    browser.picture(PICTURES.resolve("%s-%d-%s.png".formatted(
                        page.equals(shardPage) ? "shard" : "mount", width, scheme)));
                }
            }
        }
        assertThat(browser.run("return document.querySelector('#charts').innerText").asText())
            .contains("Stall in the last fsync", "Bubble", "Staleness");
        assertThat(browser.console()).isEmpty();
    }

    private static void checkTraining(Browser browser) throws Exception {
        browser.awaitTrue("the page shows the learners gpu-0 and gpu-1", "return [...document.querySelectorAll("
            + "'#learners tbody th')].map(name => name.innerText).join() === 'gpu-0,gpu-1'");
        browser.awaitTrue("both shards answer",
            "return document.querySelectorAll('#shards tbody tr:not(.silent)').length === 2");
        String before = browser.run(CLOCKS).asText();
        browser.awaitTrue("the clocks advance from " + before,
            CLOCKS + " !== '" + before.replace("\n", "\\n") + "'");
        browser.awaitTrue("the page shows the throughput as a number and as a line",
            "return /[KMG]iB.s/.test(document.querySelector("
                + "'#numbers').innerText) && document.querySelector('#charts path')?.getAttribute('d').includes('L')");
        browser.awaitTrue("the page shows that it is up to date",
            "return document.querySelector('#live').className === 'on'");
    }

    private static void checkLayout(Browser browser, int width, String scheme) throws Exception {
        JsonNode size = browser.run("return [document.documentElement.scrollWidth, innerWidth]");
        assertThat(size.get(0).asInt()).as("no horizontal scrolling at " + width).isLessThanOrEqualTo(width);
        assertThat(size.get(1).asInt()).isEqualTo(width);
        JsonNode cut = browser.run("return [...document.querySelectorAll('th, td, dd, p, li, figcaption')]"
            + ".filter(each => each.getClientRects().length && each.clientWidth && each.scrollWidth > each.clientWidth + 1"
            + " && getComputedStyle(each.closest('table, section, div') || each).overflow !== 'hidden')"
            + ".map(each => each.innerText)");
        assertThat(cut).as("texts that are wider than their boxes at " + width).isEmpty();
        int red = browser.run("return Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")
            .asInt();
        assertThat(red < 128).as("the background is dark").isEqualTo(scheme.equals("dark"));
    }

    @Test
    void pageShowsAHostileNameAsTextAndReportsAHangingShard() throws Exception {
        Browser browser = Browser.start(sandbox);
        browser.look(1280, 900, "light");
        String page = serve();
        browser.open(page);
        try (DataMemory memory = DataMemory.allocate(4096); IscsiSession learner = join(memory, HOSTILE, 1)) {
            browser.awaitTrue("the page shows the hostile name as text",
                "return document.querySelector('#learners tbody th')?.innerText"
                    + " === '" + HOSTILE + "'");
            assertThat(browser.run("return document.images.length").asInt()).isZero();
            browser.awaitTrue("the page shows that two learners must still join",
                "return document.querySelector('#numbers').innerText.includes('2 must still join')");
            shards.get(1).signal("STOP");
            browser.awaitTrue("the page names the shard that hangs",
                "return document.querySelector('#faults').innerText"
                    + ".includes('shard 1 does not answer for') && document.querySelector('#shards tbody tr.silent th')"
                    + ".innerText.startsWith('shard 1')");
            browser.picture(PICTURES.resolve("fault-1280-light.png"));
            String shown = browser.run("return document.querySelector('#live').innerText").asText();
            browser.awaitTrue("the page is still up to date",
                "return document.querySelector('#live').className === 'on' && "
                    + "document.querySelector('#live').innerText !== '" + shown + "'");
            shards.get(1).signal("CONT");
            browser.awaitTrue("the page shows no fault any more",
                "return document.querySelector('#faults').children.length === 0");
            assertThat(learner.isOpen()).isTrue();
            checkNamesOfMembers(browser, memory);
        }
        assertThat(browser.console()).isEmpty();
        shards.get(0).signal("KILL");
        browser.awaitTrue("the page shows that its process no longer responds",
            "return document.querySelector('#live').innerText"
                + ".includes('no answer from this process for')");
    }

    /** Tests learners whose names are the names of members that every JavaScript object has. */
    private void checkNamesOfMembers(Browser browser, DataMemory memory) throws Exception {
        try (IscsiSession first = join(memory, "constructor", 2); IscsiSession second = join(memory, "__proto__", 3)) {
            browser.awaitTrue("both names are shown",
                "const names = [...document.querySelectorAll('#learners tbody th')]"
                    + ".map(name => name.innerText); return names.includes('__proto__') && names.includes('constructor')");
            assertThat(first.isOpen() && second.isOpen()).isTrue();
        }
    }

    /** Logs in to shard 0 and joins as a learner with this name. */
    private IscsiSession join(DataMemory memory, String name, int isid) throws Exception {
        String portal = address.substring("modeldisk://".length()).split(",")[0];
        IscsiSession session = IscsiSession.login(new SessionContext()
            .portal(new InetSocketAddress("127.0.0.1", Integer.parseInt(portal.split(":")[1])))
            .targetName(ModelFacts.TARGET_PREFIX + "digits").initiator("iqn.2026-11.test:hostile-" + isid, isid)
            .learner(name));
        // The shard responds to the first command of a session with a unit attention, so JOIN is repeated.
        await("JOIN succeeds", () -> runJoin(session, memory));
        return session;
    }

    private static boolean runJoin(IscsiSession session, DataMemory memory) throws Exception {
        CompletableFuture<Boolean> joined = new CompletableFuture<>();
        IoRequest request = session.acquire(() -> false);
        request.control(0, JoinCommand.cdb(0, false), memory, 0, JoinCommand.DATA_BYTES)
            .onCompletion(done -> joined.complete(done.isGood()));
        session.submit(request);
        session.flush();
        return joined.get(60, TimeUnit.SECONDS);
    }

    @Test
    void shardReadsTheStatusOfOtherShardsWithItsStatusSecret() throws Exception {
        List<Integer> ports = Command.freePorts(2);
        String peers = ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
        String secrets = "peer learner aVeryLongSecretOfIts\nself shards anotherLongSecretThan\n";
        Path with = sandbox.file("with", secrets + "status page theSecretOfThePage\n");
        Path without = sandbox.file("without", secrets);
        sandbox.run("chmod", "600", with, without).succeeded();
        Running first = sandbox.start("serve", modeldisk("serve", "--model", "m", "--size", "1MiB", "--shard", "0/2",
            "--listen", "127.0.0.1:" + ports.get(0), "--peers", peers, "--secrets", with, "--admin", "127.0.0.1:0"));
        Running second = sandbox.start("serve", modeldisk("serve", "--model", "m", "--size", "1MiB", "--shard", "1/2",
            "--listen", "127.0.0.1:" + ports.get(1), "--peers", peers, "--secrets", without, "--admin", "127.0.0.1:0"));
        String page = admin(first);
        second.awaitLine("ready: ");
        await("shard 0 reports that its login to shard 1 failed", () -> get(page).at("/shards/1/failure").asText()
            .contains("authentication failed"));
        second.kill();
        sandbox.start("serve", modeldisk("serve", "--model", "m", "--size", "1MiB", "--shard", "1/2",
            "--listen", "127.0.0.1:" + ports.get(1), "--peers", peers, "--secrets", with)).awaitLine("ready: ");
        await("shard 0 reads the status of shard 1",
            () -> get(page).at("/shards/1").has("readAt") && !get(page).at("/shards/1").has("failure"));
    }

    private static JsonNode get(String page) {
        try (InputStream in = URI.create(page + "/model.json").toURL().openStream()) {
            return new ObjectMapper().readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
