package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.linux.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests all I/O engines of fio that use files. The jobs of a test run at the same time, each on its own part of a file. */
@Tag("mount")
@Tag("every-binding")
@Timeout(120)
final class FioEnginesMountTest {
    /** The engines that read and write with system calls. */
    private static final List<String> MOVING = List.of("sync", "psync", "vsync", "pvsync", "pvsync2", "posixaio",
        "libaio", "io_uring", "splice");
    private static final int PART_BYTES = 1 << 20;
    private static final int SIZE = 16 * PART_BYTES + 20;

    /**
     * The error number of a request to change the directory. For users other than root, the kernel itself replies with EACCES.
     */
    private static final int REFUSED = (Processes.effectiveUserId() == 0 ? Errno.EPERM : Errno.EACCES).number();

    @AutoClose
    private MountFixture fixture;

    private final List<String> command = new ArrayList<>(List.of("fio", "--output-format=json"));
    private final Map<String, Integer> expected = new HashMap<>();
    private Set<String> installed;

    @BeforeEach
    void mount() throws IOException {
        assumeTrue(Processes.isInstalled("fio"), "fio is missing; install it with apt install fio");
        installed = output(new ProcessBuilder("fio", "--enghelp")).lines().map(String::strip)
            .collect(Collectors.toSet());
        fixture = new MountFixture(SIZE);
        // Each job is a process, and no job is a child of another one.
        fixture.mount = ModelMount.launch(fixture.context("sync").shared(true));
    }

    private static String output(ProcessBuilder builder) throws IOException {
        return new String(builder.start().getInputStream().readAllBytes());
    }

    /** Adds a job for an engine, if this fio supports the engine. The job must end with this error number; 0 means success. */
    private void job(String engine, int error, Path file, String... options) {
        if (installed.contains(engine)) {
            command.addAll(List.of("--name=" + engine, "--ioengine=" + engine, "--filename=" + file,
                "--offset=" + (long) expected.size() * PART_BYTES, "--size=" + PART_BYTES, "--bs=64k", "--iodepth=4",
                "--allow_file_create=0", "--overwrite=1"));
            command.addAll(List.of(options));
            expected.put(engine, error);
        }
    }

    private void assertJobsEndAsExpected() throws Exception {
        Path folder = Files.createDirectory(fixture.base.resolve("fio"));
        // The output of fio goes to a file, because fio would block on a full pipe.
        Path output = folder.resolve("output");
        Process fio = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true)
            .redirectOutput(output.toFile()).start();
        Shell.end(fio);
        String text = Files.readString(output);
        Map<String, Integer> errors = new HashMap<>();
        // fio prints the messages of failed jobs before the JSON document.
        for (JsonNode job : new ObjectMapper().readTree(text.substring(text.indexOf("{\n"))).get("jobs")) {
            errors.put(job.get("jobname").asText(), job.get("error").asInt());
        }
        // Containers and administrators can forbid io_uring, so EPERM and ENOSYS of its job are ignored.
        errors.computeIfPresent("io_uring",
            (engine, error) -> error == Errno.EPERM.number() || error == Errno.ENOSYS.number()
                ? expected.get(engine)
                : error);
        assertThat(errors).as(text).isEqualTo(expected);
        fixture.shell.succeed("cat \"$DIR/model\" \"$DIR/weights\" \"$DIR/status.json\" >/dev/null");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "1"})
    void everyEngineReadsBackWhatItWroteToTheWeights(String direct) throws Exception {
        Path weights = fixture.dir.resolve("weights");
        String[] options = {"--rw=randwrite", "--verify=crc32c", "--verify_fatal=1", "--direct=" + direct};
        boolean maps = MountFixture.mapsFiles();
        // The mmap job is added first and gets the first part of the file, because this engine of fio 3.33 ignores the option
        // --offset.
        job("mmap", maps ? 0 : Errno.ENODEV.number(), weights, options);
        MOVING.forEach(engine -> job(engine, 0, weights, options));
        job("filecreate", 0, weights, "--rw=read");
        job("filestat", 0, weights, "--rw=read");
        job("falloc", 0, weights, "--rw=write");
        job("ftruncate", Errno.EPERM.number(), weights, "--rw=write");
        job("filedelete", REFUSED, weights, "--rw=read");
        assertJobsEndAsExpected();
    }

    @Test
    void everyEngineWritesAGradientToTheModel() throws Exception {
        Path model = fixture.dir.resolve("model");
        String[] options = {"--rw=write", "--zero_buffers=1", "--end_fsync=1"};
        MOVING.forEach(engine -> job(engine, 0, model, options));
        assertJobsEndAsExpected();
        assertThat(fixture.model.pushes).isNotEmpty();
    }

    @Test
    void engineThatCreatesAFileFailsWithEperm() throws Exception {
        Path missing = fixture.dir.resolve("new");
        for (String engine : new String[]{"filecreate", "filestat", "filedelete", "psync"}) {
            job(engine, REFUSED, missing, "--rw=write", "--allow_file_create=1");
        }
        assertJobsEndAsExpected();
    }
}
