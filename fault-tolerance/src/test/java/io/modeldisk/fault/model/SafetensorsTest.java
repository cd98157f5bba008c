package io.modeldisk.fault.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SafetensorsTest {
    private static final int DATA_BYTES = 24;

    @TempDir
    private Path folder;

    private Path file(long headerBytes, String header, int dataBytes) throws IOException {
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        ByteBuffer content = ByteBuffer.allocate(Long.BYTES + json.length + dataBytes).order(ByteOrder.LITTLE_ENDIAN);
        content.putLong(headerBytes).put(json);
        for (int i = 0; i < dataBytes / Float.BYTES; i++) {
            content.putFloat(i);
        }
        return Files.write(folder.resolve("model.safetensors"), content.array());
    }

    /** Writes a file with this header, in which single quotes become double quotes. */
    private Path file(String header) throws IOException {
        String json = header.replace('\'', '"');
        return file(json.getBytes(StandardCharsets.UTF_8).length, json, DATA_BYTES);
    }

    private void assertInvalid(Path file, String... parts) {
        assertThatThrownBy(() -> ModelSource.fromSafetensors(file))
            .isInstanceOf(InvalidSafetensorsException.class)
            .hasMessageContaining(file.toString())
            .hasMessageContainingAll(parts);
    }

    @Test
    void weightsAreReadInTheOrderOfTheDataInTheFile() throws Exception {
        Path file = file(
            "{'__metadata__':{'format':'pt'},'b':{'dtype':'F32','shape':[2,2],'data_offsets':[8,24]},"
                + "'none':{'dtype':'F32','shape':[0,9223372036854775807,5],'data_offsets':[8,8]},"
                + "'a':{'dtype':'F32','shape':[2],'data_offsets':[0,8]}}  ");
        ModelSource source = ModelSource.fromSafetensors(file);
        assertThat(source.sizeBytes()).isEqualTo(DATA_BYTES);
        assertThat(source.metadata()).isEqualTo(Map.of("format", "pt"));
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
        assertThat(source.source()).isEqualTo("sha256:" + HexFormat.of().formatHex(digest));
        try (DataMemory memory = DataMemory.allocate(4096); ModelSource.WeightsReader reader = source.open()) {
            reader.read(8, memory, 100, 16);
            assertThat(memory.segment(100, 16).toArray(ValueLayout.JAVA_FLOAT_UNALIGNED)).containsExactly(2, 3, 4, 5);
        }
    }

    @Test
    void halfTensorsAreConvertedToFloat32WhereverARangeBegins() throws Exception {
        int many = 50_000;
        String header = ("{'f':{'dtype':'F32','shape':[3],'data_offsets':[0,12]},"
            + "'h':{'dtype':'F16','shape':[2],'data_offsets':[12,16]},"
            + "'i':{'dtype':'F16','shape':[" + many + "],'data_offsets':[16," + (16 + 2 * many) + "]},"
            + "'e':{'dtype':'BF16','shape':[0],'data_offsets':[16,16]},"
            + "'b':{'dtype':'BF16','shape':[1,2],'data_offsets':[" + (16 + 2 * many) + "," + (20 + 2 * many) + "]}}")
            .replace('\'', '"');
        ByteBuffer content = ByteBuffer.allocate(8 + header.length() + 20 + 2 * many).order(ByteOrder.LITTLE_ENDIAN);
        content.putLong(header.length()).put(header.getBytes(StandardCharsets.UTF_8));
        float[] expected = new float[7 + many];
        for (int i = 0; i < 3; i++) {
            expected[i] = 0.1f * i;
            content.putFloat(expected[i]);
        }
        for (int i = 3; i < 5 + many; i++) {
            short half = (short) (i % 0x7C00);
            expected[i] = Float.float16ToFloat(half);
            content.putShort(half);
        }
        content.putShort((short) 0x3F80).putShort((short) 0xC020);
        expected[5 + many] = 1;
        expected[6 + many] = -2.5f;
        ModelSource source = ModelSource.fromSafetensors(Files.write(folder.resolve("m.safetensors"), content.array()));
        assertThat(source.sizeBytes()).isEqualTo(4L * expected.length);
        assertThat(source.tensors()).extracting(Tensor::name).containsExactly("f", "h", "e", "i", "b");
        assertThat(source.tensors()).allMatch(tensor -> tensor.type().equals("F32"));
        assertThat(source.tensors().getLast().begin()).isEqualTo(4L * (5 + many));
        assertThat(source.tensors().getLast().end()).isEqualTo(source.sizeBytes());
        try (DataMemory memory = DataMemory.allocate(4L * expected.length);
            ModelSource.WeightsReader reader = source.open()) {
            for (int first : new int[]{0, 1, 4, 5, many / 2, many + 4, many + 6}) {
                int count = expected.length - first;
                reader.read(4L * first, memory, 0, 4 * count);
                assertThat(memory.segment(0, 4L * count).toArray(ValueLayout.JAVA_FLOAT))
                    .isEqualTo(Arrays.copyOfRange(expected, first, expected.length));
            }
        }
    }

    @Test
    void tensorWithoutDimensionsHasOneElement() throws Exception {
        String json = "{\"s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}";
        assertThat(ModelSource.fromSafetensors(file(json.length(), json, 4)).sizeBytes()).isEqualTo(4);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {'a':{'dtype':'F99','shape':[6],'data_offsets':[0,24]}} | tensor 'a' has unknown dtype F99
        {'a':{'dtype':'F64','shape':[3],'data_offsets':[0,24]}} | tensor 'a' has dtype F64, but only F32, BF16 and F16 are
        {'n':{'dtype':'I64','shape':[3],'data_offsets':[0,24]}} | tensor 'n' has dtype I64, but only F32, BF16 and F16 are \
        supported; leave the tensor out of the file
        {'b':{'dtype':'BF16','shape':[11],'data_offsets':[0,24]}} | has 24 bytes of data, but its shape [11] of BF16 needs 22
        {'a':{'dtype':'F32','shape':[5],'data_offsets':[0,24]}} | has 24 bytes of data, but its shape [5] of F32 needs 20
        {'a':{'dtype':'F32','shape':[6],'data_offsets':[4,28]}} | data_offsets [4, 28]
        {'a':{'dtype':'F32','shape':[6],'data_offsets':[24,0]}} | data_offsets [24, 0]
        {'a':{'dtype':'F32','shape':[6],'data_offsets':[-24,0]}} | data_offsets [-24, 0]
        {'a':{'dtype':'F32','shape':[-6],'data_offsets':[0,24]}} | shape [-6], which must not have negative lengths
        {'a':{'dtype':'F32','shape':[4611686018427387904,4],'data_offsets':[0,0]}} | does not fit in 64 bits
        {'a':{'dtype':'F32','shape':[6],'data_offsets':[0]}} | has 1 data_offsets, but must have 2
        {'a':{'dtype':'F32','shape':[5],'data_offsets':[0,20]}} | the tensors end at byte 20, but the file has 24 bytes
        {'a':{'dtype':'F32','shape':[5],'data_offsets':[4,24]}} | tensor 'a' begins at byte 4, after a gap from byte 0
        {'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16]},'b':{'dtype':'F32','shape':[3],'data_offsets':[12,24]}} | \
        tensor 'b' begins at byte 12, inside a tensor that ends at byte 16
        {'a':{'dtype':'F32','shape':[3],'data_offsets':[0,12]},'a':{'dtype':'F32','shape':[3],'data_offsets':[12,24]}} | \
        Duplicate field 'a'
        {'a':{'dtype':'F32','shape':[6]}} | must have dtype, shape and data_offsets
        {'a':{'dtype':'F32','shape':[6.5],'data_offsets':[0,24]}} | 6.5, but an integer is expected
        {'a':{'dtype':'F32','shape':[99999999999999999999],'data_offsets':[0,24]}} | not valid JSON
        {'a':{'dtype':32,'shape':[6],'data_offsets':[0,24]}} | 32, but a string is expected
        {'a':{'dtype':'F32','shape':[6],'data_offsets':[0,24],'x':1}} | unknown field 'x'
        {'a':7} | tensor 'a' has 7, but an object is expected
        {'__metadata__':{'format':1}} | __metadata__ entry 'format' has 1, but a string is expected
        [] | the header has [, but an object is expected
        {} {} | continues after the closing brace
        {'a' | not valid JSON
        `` | the header has nothing, but an object is expected
        """)
    void invalidHeaderIsRefused(String header, String message) throws IOException {
        assertInvalid(file(header), message);
    }

    @Test
    void headerLengthBeyondTheFileIsRefused() throws IOException {
        assertInvalid(file(1000, "{}", 0), "declared to have 1000 bytes, but only 2 bytes follow");
        assertInvalid(file(100_000_001, "{}", 0),
            "declared to have 100000001 bytes, but the maximum is 100000000");
        assertInvalid(file(-1, "{}", 0), "declared to have 18446744073709551615 bytes");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        504b030400000808 | this is a zip archive, as torch.save writes it; load it with torch.load
        80028a0a6cfc9c46 | this is a pickle, as torch.save writes it; load it with torch.load
        76657273696f6e20 | this is a pointer of Git LFS without the data; run git lfs pull
        7b226d6574616461 | this is JSON, such as the index of a model that consists of several files
        4747554603000000 | this is a GGUF file; use the .safetensors file
        """)
    void messageNamesTheFormatOfAFileThatIsNotSafetensors(String start, String message) throws IOException {
        assertInvalid(Files.write(folder.resolve("m.bin"), HexFormat.of().parseHex(start + "00".repeat(99))), message);
    }

    @Test
    void truncatedFileIsRefused() throws IOException {
        Path sound = file("{'a':{'dtype':'F32','shape':[6],'data_offsets':[0,24]}}");
        byte[] content = Files.readAllBytes(sound);
        ModelSource.fromSafetensors(sound);
        for (int length = 0; length < content.length; length++) {
            assertInvalid(Files.write(sound, Arrays.copyOf(content, length)), "model.safetensors: ");
        }
    }

    @Test
    void readErrorNamesTheFileThatHasBecomeShorter() throws IOException {
        Path file = file("{'a':{'dtype':'F32','shape':[6],'data_offsets':[0,24]}}");
        ModelSource source = ModelSource.fromSafetensors(file);
        Files.write(file, new byte[8]);
        try (DataMemory memory = DataMemory.allocate(4096); ModelSource.WeightsReader reader = source.open()) {
            assertThatThrownBy(() -> reader.read(0, memory, 0, DATA_BYTES))
                .hasMessageContaining(file + ": the file ends at byte ");
        }
    }

    @Test
    void fileWithoutTensorDataIsRefused() throws IOException {
        assertInvalid(file(2, "{}", 0), "has 0 tensors and no data");
    }

    @Test
    void modelSizeMustBeAPositiveMultipleOfFour() {
        assertThat(ModelSource.ofSize(8).source()).isEqualTo("zeros");
        assertThatThrownBy(() -> ModelSource.ofSize(0)).hasMessageContaining("size=0 must be a positive multiple of 4");
        assertThatThrownBy(() -> ModelSource.ofSize(6)).hasMessageContaining("size=6 must be");
    }

    private Path names(String json) throws IOException {
        return Files.writeString(folder.resolve("names.json"), json.replace('\'', '"'));
    }

    @Test
    void tensorsOfANamesFileWithoutOffsetsAreInTheOrderOfTheFile() throws IOException {
        ModelSource source = ModelSource.named(
            names("{'b':{'shape':[2,3]},'a/x':{'dtype':'F32','shape':[]},'':{'shape':[0]}}"),
            null);
        assertThat(source.sizeBytes()).isEqualTo(28);
        assertThat(source.source()).startsWith("zeros-sha256:");
        assertThat(source.tensors()).extracting(Tensor::name).containsExactly("b", "a/x", "");
        assertThat(source.tensors()).extracting(Tensor::begin).containsExactly(0L, 24L, 28L);
        assertThat(new String(SafetensorsText.of(source.tensors(), Map.of()), StandardCharsets.UTF_8)).isEqualTo(
            "{'b':{'dtype':'F32','shape':[2,3],'data_offsets':[0,24]},'a/x':{'dtype':'F32','shape':[],'data_offsets':[24,28]},"
                .replace('\'', '"') + "\"\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[28,28]}}");
    }

    @Test
    void tensorsOfANamesFileMayHaveOffsets() throws IOException {
        Path file = names("{'b':{'shape':[1],'data_offsets':[4,8]},'a':{'shape':[1],'data_offsets':[0,4]}}");
        assertThat(ModelSource.named(file, 8L).tensors()).extracting(Tensor::name).containsExactly("a", "b");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
        "{'a':{'shape':[2]}}|12|the tensors end at byte 8, but the model has 12 bytes of data",
        "{'a':{'shape':[4]}}|12|tensor 'a' has data_offsets [0, 16], which must ascend and be within the 12 bytes of data",
        "{'a':{'shape':[2],'data_offsets':[0,8]},'b':{'shape':[1],'data_offsets':[4,8]}}|8|tensor 'b' begins at byte 4, inside",
        "{'a':{'shape':[1],'data_offsets':[4,8]}}|8|tensor 'a' begins at byte 4, after a gap from byte 0",
        "{'a':{'shape':[1],'data_offsets':[0,4]},'b':{'shape':[1]}}|8|tensor 'b' has no data_offsets, but other tensors have",
        "{'a':{'shape':[1]},'a':{'shape':[1]}}|8|Duplicate field 'a'",
        "{'a':{'dtype':'BF16','shape':[4]}}|8|tensor 'a' has dtype BF16, but",
        "{'a':{'shape':[-1]}}|8|must not have negative lengths",
        "{'a':{'shape':[4611686018427387904]}}|8|does not fit in 64 bits",
        "{'a':{'dtype':'F32'}}|8|tensor 'a' must have a shape",
        "{'a':[1]}|8|tensor 'a' has [, but an object is expected",
        "{}|8|has 0 tensors and no data",
        "{'a':|8|not valid JSON",
        "{'\\ud800':{'shape':[2]}}|8|Broken surrogate pair"})
    void invalidNamesFileIsRefused(String json, long size, String message) throws IOException {
        Path file = names(json);
        assertThatThrownBy(() -> ModelSource.named(file, size)).isInstanceOf(InvalidSafetensorsException.class)
            .hasMessageStartingWith(file + ": ").hasMessageContaining(message);
    }

    @Test
    void onlyASampledByteOfTheWeightsChangesTheIdentityOfALargeFile(@TempDir Path directory) throws IOException {
        long dataBytes = SafetensorsFile.MAX_DIGESTED_BYTES;
        byte[] header = ("{\"w\":{\"dtype\":\"F32\",\"shape\":[" + dataBytes / 4 + "],\"data_offsets\":[0," + dataBytes
            + "]}}")
            .getBytes(StandardCharsets.UTF_8);
        Path large = directory.resolve("large.safetensors");
        try (RandomAccessFile sparse = new RandomAccessFile(large.toFile(), "rw")) {
            sparse.write(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(header.length).array());
            sparse.write(header);
            sparse.setLength(8 + header.length + dataBytes);
            String zeros = ModelSource.fromSafetensors(large).source();
            assertThat(zeros).startsWith("sampled-sha256:");
            sparse.seek(sparse.length() - 1);
            sparse.write(1);
            assertThat(ModelSource.fromSafetensors(large).source()).isNotEqualTo(zeros);
            sparse.seek(sparse.length() - 1);
            sparse.write(0);
            assertThat(ModelSource.fromSafetensors(large).source()).isEqualTo(zeros);
            long stepBytes = dataBytes / (SafetensorsFile.SAMPLES - 1);
            sparse.seek(8 + header.length + stepBytes / 2);
            sparse.write(1);
            assertThat(ModelSource.fromSafetensors(large).source()).as("a change between two samples").isEqualTo(zeros);
        }
    }
}
