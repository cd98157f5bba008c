package io.modeldisk.mount.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.FakeRequest;
import io.modeldisk.mount.MemoryModel;
import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.mount.fuse.OpenRequest;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.initiator.ShardException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class VersionFileTest {
    /** Blocks have 256 KiB. */
    private static final int SIZE = (1 << 20) + 5000;
    private static final int BEGIN = 300_000;
    private static final int END = 900_004;
    private static final String TENSORS = """
        {"a": {"shape": [75000], "data_offsets": [0, 300000]}, "b/c": {"shape": [150001], "data_offsets": [300000, 900004]},
         "none": {"shape": [0], "data_offsets": [900004, 900004]}, "d": {"shape": [38393], "data_offsets": [900004, 1053576]}}
        """;

    private final MemoryModel model = new MemoryModel(SIZE);
    private final VersionMemory memories = new VersionMemory(model);
    private final FakeRequest request = new FakeRequest();
    private final List<MountedFile> files;
    private long lastInstance;

    VersionFileTest() throws IOException {
        files = VersionFile.of(model, NamedTensor.parse(TENSORS.getBytes(StandardCharsets.UTF_8), SIZE), Map.of(),
            memories);
    }

    @AfterEach
    void close() {
        model.close();
        request.close();
        assertThat(memories.usedBytes()).as("memory after the last handle was released").isZero();
    }

    private MountedFile file(String name) {
        return files.stream().filter(file -> file.name().equals(name)).findFirst().orElseThrow();
    }

    private static OpenRequest request(long sinceNs, Cancellation cancellation) {
        return new OpenRequest(false, 0, sinceNs, cancellation);
    }

    private FileHandle open(String name) throws IOException {
        return file(name).open(request(0, new Cancellation()), ++lastInstance);
    }

    private byte[] read(FileHandle handle, long offset, int lengthBytes) throws IOException {
        request.answer = new byte[0];
        handle.read(offset, lengthBytes, request);
        return request.answer;
    }

    private byte[] content(FileHandle handle) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] part = read(handle, 0, 100_000);
        while (part.length > 0) {
            all.write(part);
            part = read(handle, all.size(), DataRequest.MAX_REQUEST_BYTES);
        }
        return all.toByteArray();
    }

    @Test
    void modelFileAndTensorFilesHaveAConstantSize() throws IOException {
        assertThat(files).extracting(MountedFile::name).containsExactly("model.safetensors", "tensors/a.npy",
            "tensors/b%2Fc.npy", "tensors/none.npy", "tensors/d.npy");
        for (MountedFile each : files) {
            FileHandle handle = open(each.name());
            assertThat(content(handle)).as(each.name()).hasSize((int) each.sizeBytes());
            handle.release();
        }
    }

    @Test
    void tensorFileEndsWithTheWeightsOfTheTensor() throws IOException {
        for (int at = 0; at < SIZE; at++) {
            model.setWeight(at, (byte) (at * 7 + at / 4096));
        }
        FileHandle handle = open("tensors/b%2Fc.npy");
        byte[] content = content(handle);
        byte[] expected = new byte[END - BEGIN];
        for (int at = 0; at < expected.length; at++) {
            expected[at] = model.weight(BEGIN + at);
        }
        assertThat(Arrays.copyOfRange(content, content.length - expected.length, content.length)).isEqualTo(expected);
        assertThat(memories.usedBytes()).as("memory of only the blocks that contain the tensor").isEqualTo(3 << 18);
        handle.release();
    }

    @Test
    void openFileKeepsItsVersionWhileTheModelChanges() throws IOException {
        FileHandle first = open("model.safetensors");
        byte[] before = content(first);
        model.fill(5);
        model.versionIsNewest = false;
        FileHandle second = open("model.safetensors");
        assertThat(content(first)).isEqualTo(before);
        assertThat(content(second)).isNotEqualTo(before).endsWith(5, 5);
        assertThat(model.versionReads).hasValue(2);
        first.release();
        second.release();
    }

    @Test
    void openFilesOfOneVersionShareMemoryUntilTheLastClose() throws IOException {
        FileHandle first = open("model.safetensors");
        long used = memories.usedBytes();
        FileHandle second = open("model.safetensors");
        assertThat(memories.usedBytes()).isEqualTo(used);
        first.release();
        assertThat(content(second)).hasSize((int) file("model.safetensors").sizeBytes());
        second.release();
        assertThat(memories.usedBytes()).isZero();
        open("model.safetensors").release();
        assertThat(model.versionReads).as("reads of the weights").hasValue(2);
    }

    @Test
    void openReadsTheWeightsAgainWhenAShardDoesNotRespond() throws IOException {
        FileHandle first = open("model.safetensors");
        for (ShardException.Kind kind : List.of(ShardException.Kind.PATH_LOST, ShardException.Kind.BUSY)) {
            model.lookFailure = kind;
            open("model.safetensors").release();
        }
        assertThat(model.versionReads).hasValue(3);
        model.lookFailure = null;
        FileHandle last = open("model.safetensors");
        model.lookFailure = ShardException.Kind.ACCESS_DENIED;
        assertThatThrownBy(() -> open("model.safetensors")).isInstanceOf(ShardException.class);
        first.release();
        last.release();
    }

    @Test
    void secondOpenOfAnOpenInodeReturnsTheSameVersion() throws IOException {
        MountedFile file = file("model.safetensors");
        model.versionIsNewest = false;
        FileHandle first = file.open(request(0, new Cancellation()), 7);
        FileHandle newer = file.open(request(0, new Cancellation()), 8);
        FileHandle again = file.open(request(0, new Cancellation()), 7);
        assertThat(model.versionReads).hasValue(2);
        first.release();
        FileHandle third = file.open(request(0, new Cancellation()), 7);
        assertThat(model.versionReads).hasValue(2);
        again.release();
        third.release();
        FileHandle anew = file.open(request(0, new Cancellation()), 7);
        assertThat(model.versionReads).hasValue(3);
        anew.release();
        newer.release();
    }

    @Test
    void openFailsWithEmfileWhenTooManyVersionsAreOpen() throws IOException {
        model.versionIsNewest = false;
        List<FileHandle> open = new ArrayList<>();
        assertThatThrownBy(() -> {
            while (open.size() < 1000) {
                open.add(open("model.safetensors"));
            }
        }).isInstanceOfSatisfying(ErrnoException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EMFILE))
            .hasMessageContaining("model.safetensors needs 1").hasMessageContaining("close files");
        assertThat(open).hasSizeBetween(VersionMemory.MODELS, 30);
        open.getFirst().release();
        open.set(0, open("model.safetensors"));
        for (FileHandle each : open) {
            each.release();
        }
    }

    @Test
    void failedReadOfAVersionFreesItsMemory() {
        Cancellation cancelled = new Cancellation();
        cancelled.cancel();
        model.versionsWait(true);
        assertThatThrownBy(() -> file("model.safetensors").open(request(0, cancelled), 1))
            .isInstanceOf(IOException.class);
    }

    @Test
    void timeLimitOfAnOpenBeginsWhenItsRequestArrives() throws IOException {
        file("tensors/a.npy").open(request(42, new Cancellation()), 1).release();
        assertThat(model.versionSinceNs).isEqualTo(42);
    }
}
