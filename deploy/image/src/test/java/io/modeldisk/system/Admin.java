package io.modeldisk.system;

import static io.modeldisk.test.Await.await;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A client of {@code --admin}, which sends its requests with curl.
 *
 * @param sandbox the sandbox in which curl runs
 * @param url the URL of the server
 */
record Admin(Sandbox sandbox, String url) {
    private static final Pattern URL = Pattern.compile(".*, admin (https?://[^ ]+)$");

    /**
     * The answer to a request.
     *
     * @param status the status of HTTP; 0 if there is no answer
     * @param body the content
     */
    record Answer(int status, String body) {}

    /** Returns a client of a process that has printed its ready line. */
    static Admin of(Sandbox sandbox, Running process, String line) throws Exception {
        Matcher named = URL.matcher(process.awaitLine(line));
        if (!named.matches()) {
            throw new AssertionError("the line names no address for operators; the output is: " + process.output());
        }
        return new Admin(sandbox, named.group(1));
    }

    /** Sends a GET request for a path. {@code options}: further options of curl. */
    Answer get(String path, String... options) throws Exception {
        String[] request = {"curl", "--silent", "--show-error", "--max-time", "30", "--write-out", "\n%{http_code}"};
        Result result = sandbox.run(Stream.of(request, options, new String[]{url + path}).flatMap(Arrays::stream)
            .toArray(String[]::new));
        int end = result.output().lastIndexOf('\n');
        return new Answer(Integer.parseInt(result.output().substring(end + 1).strip()),
            result.output().substring(0, end));
    }

    /** Waits until the process is healthy or is not healthy, for a reason that contains these words. */
    void awaitHealth(int status, String words) throws Exception {
        AtomicReference<Answer> last = new AtomicReference<>();
        await(() -> "/healthz is " + status + " and has '" + words + "'; it was " + last.get(), Duration.ofSeconds(150),
            () -> {
                last.set(get("/healthz"));
                return last.get().status() == status && last.get().body().contains(words);
            });
    }
}
