package io.modeldisk.bench.mount;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.shard.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;

/** Runs fio on a file, without the page cache. */
final class Fio {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Fio() {}

    /**
     * Sends requests for a given time. With a queue depth of 1, one thread calls pread(2) or pwrite(2). With a larger depth, the
     * requests are asynchronous (libaio).
     *
     * @return the throughput in bytes per second
     * @throws IOException if a request fails
     */
    static double run(Path file, long fileBytes, Load load, long runMs) throws IOException {
        String way = load.direction() == Direction.PUSH ? "write" : "read";
        String output = ChildProcess.run("fio", "--name=bench", "--filename=" + file, "--size=" + fileBytes,
            "--direct=1",
            "--ioengine=" + (load.queueDepth() == 1 ? "psync" : "libaio"), "--iodepth=" + load.queueDepth(),
            "--bs=" + load.requestBytes(), "--rw=" + way, "--time_based", "--runtime=" + runMs + "ms",
            "--zero_buffers=1", "--allow_file_create=0", "--overwrite=1", "--output-format=json");
        // fio may print warnings before the JSON document.
        JsonNode result = JSON.readTree(output.substring(output.indexOf('{')));
        return result.at("/jobs/0/" + way + "/bw_bytes").asDouble();
    }
}
