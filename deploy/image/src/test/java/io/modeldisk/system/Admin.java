package io.modeldisk.system;

import static io.modeldisk.test.Await.await;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A client that sends requests to the admin server of a process (option {@code --admin}) with curl.
 *
 * @param sandbox the sandbox in which curl runs
 * @param url the URL of the admin server
 */
record Admin(Sandbox sandbox, String url) {
    private static final Pattern URL = Pattern.compile(".*, admin (https?://[^ ]+)$");

    /**
     * The HTTP response to a request.
     *
     * @param status the HTTP status code; 0 if the server did not respond
     * @param body the content of the response
     */
    record Answer(int status, String body) {}

    /**
     * Waits until the process prints the line that starts with {@code line}, and returns a client of the admin server that this
     * line names.
     */
    static Admin of(Sandbox sandbox, Running process, String line) throws Exception {
        Matcher named = URL.matcher(process.awaitLine(line));
        if (!named.matches()) {
            throw new AssertionError(
                "the line contains no URL of an admin server; the output of the process is: " + process.output());
        }
        return new Admin(sandbox, named.group(1));
    }

    /** Sends a GET request for a path, with additional curl options. */
    Answer get(String path, String... options) throws Exception {
        Result result = sandbox.run("curl", "--silent", "--show-error", "--max-time", "30", "--write-out",
            "\n%{http_code}", options, url + path);
        int end = result.output().lastIndexOf('\n');
        return new Answer(Integer.parseInt(result.output().substring(end + 1).strip()),
            result.output().substring(0, end));
    }

    /** Waits until {@code /healthz} returns this HTTP status code and a body that contains these words. */
    void awaitHealth(int status, String words) throws Exception {
        AtomicReference<Answer> last = new AtomicReference<>();
        await(() -> "/healthz returns " + status + " with '" + words + "'; the last response was " + last.get(),
            Duration.ofSeconds(150),
            () -> {
                last.set(get("/healthz"));
                return last.get().status() == status && last.get().body().contains(words);
            });
    }
}
