package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how programs use the files of a mount through the kernel. */
@Tag("mount")
@Tag("every-binding")
@Timeout(120)
final class FilesMountTest {
    private static final int SIZE = (8 << 20) + 20;

    @AutoClose
    private MountFixture fixture;

    @BeforeEach
    void mount() throws IOException {
        fixture = new MountFixture(SIZE).launch("direct");
    }

    @Test
    void directoryListsFilesWithTheirModesAndSizes() throws Exception {
        assertThat(fixture.shell.succeed("cd \"$DIR\" && stat -c '%n %A %s' * && df . | wc -l").lines())
            .containsExactly(
                "model -rw------- " + SIZE, "model.safetensors -r-------- " + (SIZE + 4096),
                "partition -r-------- 0", "status.json -r-------- 0",
                "tensors dr-x------ 0", "tensors.json -r-------- 0", "trace.json -r-------- 0", "version -r-------- 0",
                "weights -rw------- " + SIZE, "2");
    }

    @Test
    void mountTableShowsTheSourceAndTheTypeOfTheMount() throws Exception {
        assertThat(fixture.shell.succeed("mount | grep -F \"$DIR\"; df --output=source \"$DIR\"").lines())
            .satisfiesExactly(
                line -> assertThat(line).startsWith(MountFixture.SOURCE + " on ")
                    .contains("type fuse.modeldisk (rw,nosuid,nodev"),
                line -> assertThat(line).isEqualTo("Filesystem"),
                line -> assertThat(line).isEqualTo(MountFixture.SOURCE));
    }

    @Test
    void copyOfAFileWithNamedTensorsHasWeightsOfOneVersion() throws Exception {
        fixture.model.fill(5);
        fixture.shell.succeed("cp \"$DIR/model.safetensors\" a && cp \"$DIR/tensors/weights.npy\" b");
        fixture.shell.succeed("cmp a \"$DIR/model.safetensors\" && cmp b \"$DIR/tensors/weights.npy\"");
        fixture.model.versionIsNewest = false;
        assertThat(fixture.shell.succeed("exec 3< \"$DIR/tensors/weights.npy\"; head -c 128 <&3 > /dev/null; tail -c 2"
            + " \"$DIR/tensors/weights.npy\" | od -An -tx1; cat /proc/self/fd/3 | cmp - b && echo same"))
            .contains("05 05")
            .contains("same");
        assertThat(fixture.shell.run("echo x > \"$DIR/model.safetensors\"").output()).contains("ermission denied");
    }

    @Test
    void readOfTensorsJsonReadsNoWeights() throws Exception {
        fixture.model.versionsWait(true);
        assertThat(fixture.shell.succeed("cat \"$DIR/tensors.json\""))
            .isEqualTo("{\"weights\":{\"dtype\":\"F32\",\"shape\":[" + SIZE / Float.BYTES + "],\"data_offsets\":[0,"
                + SIZE + "]}}");
    }

    @Test
    void filesCannotBeCreatedRemovedRenamedOrGivenAnotherOwner() throws Exception {
        for (String command : new String[]{
            "touch x", "rm -f model", "mv model x", "mkdir x", "chmod 600 model", "chown 5 model", "ln model x",
            "ln -s a b"
        }) {
            Shell.Result result = fixture.shell.run("cd \"$DIR\" && " + command);
            assertThat(result.status()).as(command).isNotZero();
            assertThat(result.output()).as(command).contains("Operation not permitted");
        }
        assertThat(fixture.shell.run("cat \"$DIR/x\"").output()).contains("No such file");
        assertThat(fixture.shell.run("cat \"$DIR/model/x\"").output()).contains("Not a directory");
        assertThat(fixture.shell.run("fallocate -l 1G \"$DIR/model\"").output()).contains("No space left");
    }

    @Test
    void writeAcrossTheEndOfAFileWritesOnlyTheBytesBeforeTheEnd() throws Exception {
        fixture.shell.succeed("python3 - <<'P'\n"
            + "import os, errno\n"
            + "size=" + SIZE + "\n"
            + "for name in ['weights', 'model']:\n"
            + "  f=os.open(os.environ['DIR']+'/'+name, os.O_RDWR); at=size//4096*4096\n"
            + "  assert os.pwrite(f, b'x'*4096, at)==size-at\n"
            + "  for at in [size, size+5000]:\n"
            + "    assert os.pread(f, 10, at)==b''\n"
            + "    try:\n"
            + "      os.pwrite(f, b'x'*4096, at); raise SystemExit('pwrite succeeded')\n"
            + "    except OSError as e: assert e.errno==errno.ENOSPC, e\n"
            + "  assert len(os.pread(f, 4096, size-7))==7 and os.fstat(f).st_size==size\n"
            + "P");
    }

    @Test
    void unalignedWriteFailsWithEinvalInTheDirectExchange() throws Exception {
        Shell.Result result = fixture.shell.run("printf x | dd of=\"$DIR/model\" bs=1 conv=notrunc");
        assertThat(result.output()).contains("Invalid argument");
        assertThat(fixture.model.pushes).isEmpty();
    }

    @Test
    void directExchangeAcceptsAllBytesOfAWriteFromUnalignedMemory() throws Exception {
        fixture.shell.learn("for n in [1<<20, 8<<20]:\n"
            + "  assert os.pwrite(f, b'\\1'*n, 0)==n\n"
            + "  memory=memoryview(bytearray(b'\\1'*(n+64)))\n"
            + "  for shift in [1, 16, 48]: assert os.pwrite(f, memory[shift:shift+n], 0)==n\n");
        assertThat(fixture.model.weight((1 << 20) - 1)).isEqualTo((byte) 8);
        assertThat(fixture.model.weight((8 << 20) - 1)).isEqualTo((byte) 4);
    }

    @Test
    void directExchangeSplitsAWriteFromScatteredMemoryBetweenLogicalBlocks() throws Exception {
        fixture.shell.learn("size=1024*1000; at=0\n"
            + "while at<size:\n"
            + "  left=size-at; parts=[b'\\1'*1000]*(left//1000)+[b'\\1'*(left%1000)]\n"
            + "  written=os.pwritev(f, parts[:1024], at); assert written>0 and written%4096==0, written; at+=written\n");
        assertThat(fixture.model.pushes).hasSizeGreaterThan(1).doesNotHaveDuplicates();
        assertThat(fixture.model.weight(1024 * 1000 - 1)).isEqualTo((byte) 1);
    }

    @Test
    void truncationToAnotherSizeFailsWithEperm() throws Exception {
        for (String file : new String[]{"model", "weights"}) {
            for (String size : new String[]{"10", "0", "1G", "+1"}) {
                assertThat(fixture.shell.run("truncate -s " + size + " \"$DIR/" + file + "\"").output()).as(file + size)
                    .contains("Operation not permitted");
            }
            fixture.shell.succeed("truncate -s " + SIZE + " \"$DIR/" + file + "\"");
            assertThat(fixture.shell.succeed("stat -c %s \"$DIR/" + file + "\"")).isEqualTo(SIZE + "\n");
        }
    }

    @Test
    void copyIntoAFileSucceedsWhenTheOpenRequestsATruncation() throws Exception {
        fixture.shell.succeed("head -c " + SIZE + " /dev/urandom > \"$DIR/../data\"");
        fixture.shell.succeed("cp \"$DIR/../data\" \"$DIR/weights\" && cmp \"$DIR/../data\" \"$DIR/weights\"");
        fixture.shell.succeed(
            "dd if=\"$DIR/../data\" of=\"$DIR/weights\" bs=1M status=none && cmp \"$DIR/../data\" \"$DIR/weights\"");
        fixture.shell.succeed("cat \"$DIR/../data\" > \"$DIR/weights\"");
        fixture.shell.succeed("head -c 4096 /dev/zero > \"$DIR/model\"");
        assertThat(fixture.shell.succeed("stat -c %s \"$DIR/model\"")).isEqualTo(SIZE + "\n");
    }

    @Test
    void statusFileContainsValidJson() throws Exception {
        JsonNode status = new ObjectMapper().readTree(fixture.shell.succeed("cat \"$DIR/status.json\""));
        assertThat(status.at("/mount/exchange").asText()).isEqualTo("direct");
        assertThat(status.at("/mount/learner").asText()).isEqualTo("l1");
        assertThat(status.at("/model/sizeBytes").asLong()).isEqualTo(SIZE);
        assertThat(status.at("/shards/0/version/min").asInt()).isEqualTo(7);
        assertThat(fixture.shell.succeed("python3 -c 'import json, os; "
            + "print(json.load(open(os.environ[\"DIR\"] + \"/status.json\"))[\"model\"][\"model\"])'"))
            .isEqualTo("m\n");
    }

    @Test
    void readOnlyFileCannotBeOpenedForWriting() throws Exception {
        for (String name : List.of("status.json", "version", "model.safetensors")) {
            assertThat(fixture.shell.run("echo > \"$DIR/" + name + "\"").output()).contains("Permission denied");
        }
    }

    @Test
    void statusShowsEachTunedValueAndItsOrigin() throws Exception {
        fixture.mount.close();
        fixture.mount = ModelMount.launch(fixture.context("direct")
            .tuning(Map.of("tcp", List.of(new TunedSize("queueDepth", 4, "built in")))));
        assertThat(new ObjectMapper().readTree(fixture.shell.succeed("cat \"$DIR/status.json\"")).at("/mount/tuning"))
            .hasToString("{\"tcp\":{\"queueDepth\":{\"value\":4,\"origin\":\"built in\"}}}");
    }

    @Test
    void statusReportsTheErrorOfAShardThatDoesNotRespond() throws Exception {
        fixture.model.statusFails = true;
        JsonNode status = new ObjectMapper().readTree(fixture.shell.succeed("cat \"$DIR/status.json\""));
        assertThat(status.at("/shards/error").asText()).isEqualTo("shard 0 does not respond");
    }

    @Test
    void mountServesRequestsAfterAnUnexpectedExceptionInARead() throws Exception {
        fixture.model.pullBreaks = true;
        for (int i = 0; i < 10; i++) {
            assertThat(fixture.shell.run("head -c 10 \"$DIR/model\"").output()).contains("Input/output error");
        }
        fixture.model.pullBreaks = false;
        fixture.shell.succeed("head -c 10 \"$DIR/model\" >/dev/null");
    }
}
