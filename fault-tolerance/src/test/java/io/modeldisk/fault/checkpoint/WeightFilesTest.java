package io.modeldisk.fault.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.fault.model.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WeightFilesTest {
    private static final int PAGE = 4096;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void pagesOfTheModelStartAtPagesOfTheFile(int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Tensor> tensors = new ArrayList<>();
        long end = 0;
        for (int i = 0; i < 40; i++) {
            long values = random.nextLong(5000);
            tensors.add(new Tensor("t" + i, "F32", new long[]{values}, end, end + values * Float.BYTES));
            end += values * Float.BYTES;
        }
        List<WeightFile> files = WeightFiles.of(tensors, Map.of(), 50_000).files();

        assertThat(files).hasSizeGreaterThan(5);
        for (WeightFile file : files) {
            long page = Math.ceilDiv(file.begin(), PAGE) * PAGE;
            assertThat(file.offsetOf(page) % PAGE).as("offset of byte %d in %s", page, file.name()).isZero();
            assertThat(ByteBuffer.wrap(file.head()).order(ByteOrder.LITTLE_ENDIAN).getLong())
                .isEqualTo(file.head().length - Long.BYTES);
        }
        assertThat(files.getLast().end()).isEqualTo(end);
    }

    @Test
    void indexHasTheSizeAndTheMetadataOfTheInitialWeights() throws IOException {
        byte[] index = WeightFiles.of(List.of(new Tensor("t", "F32", new long[]{2}, 0, 8)),
            Map.of("license", "MIT", "total_size", "5"), 8).index();
        assertThat(new ObjectMapper().readTree(index).path("metadata"))
            .isEqualTo(new ObjectMapper().readTree("{\"license\": \"MIT\", \"total_size\": 8}"));
    }
}
