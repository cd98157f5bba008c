package io.modeldisk.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.platform.units.ByteSize;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ReportTest {
    @TempDir
    private Path directory;

    private final Report report = new Report("protocol").fact("modelBytes", 4096L);
    private final Table table = report.table("throughput", "Throughput", "direction", "request");

    @BeforeEach
    void addRows() {
        table.row("push", new ByteSize(4096))
            .put("tcp", Unit.GIGABYTES_PER_SECOND, new Samples(1, 2, 3))
            .put("sockets", Unit.GIGABYTES_PER_SECOND, new Samples(4, 4, 4)).ratio("tcp", "sockets");
        table.row("pull", new ByteSize(64 << 10)).put("tcp", Unit.GIGABYTES_PER_SECOND, new Samples(0.05));
    }

    @Test
    void tableShowsMediansWithUnitsAndRatiosWithTheirSpread() {
        report.note("iser is not measured: there is no RDMA device");

        assertThat(report.text()).isEqualTo("""
            Throughput

            direction  request  tcp GB/s  sockets GB/s     tcp / sockets
            push       4 KiB        2.00          4.00  0.50 (0.25-0.75)

            pull       64 KiB     0.0500             -                 -

            iser is not measured: there is no RDMA device
            """);
    }

    @Test
    void rowWithMoreKeysThanTheTableIsRefused() {
        assertThatThrownBy(() -> table.row("push", "4 KiB", "32")).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("the row has 3 keys, but the table has 2");
    }

    @Test
    void jsonContainsTheFiguresOfEachRowAndTheMachine() throws IOException {
        Path json = directory.resolve("figures.json");

        report.write(json);

        JsonNode root = new ObjectMapper().readTree(json.toFile());
        assertThat(root.path("benchmark").asText()).isEqualTo("protocol");
        assertThat(root.path("machine").has("processors")).isTrue();
        assertThat(root.path("modelBytes").asLong()).isEqualTo(4096);
        JsonNode row = root.path("throughput").path(0);
        assertThat(row.path("request").asLong()).isEqualTo(4096);
        assertThat(row.path("tcp").path("unit").asText()).isEqualTo("GB/s");
        assertThat(row.path("tcp").path("runs").toString()).isEqualTo("[1.0,2.0,3.0]");
        assertThat(row.path("tcp / sockets").path("max").asDouble()).isEqualTo(0.75);
        assertThat(root.path("throughput").path(1).has("sockets")).isFalse();
    }

    @Test
    void chartFileHasTheFormatOfItsExtension() throws IOException {
        report.charts(Charts.lines(table, "request", table.columns(Unit.GIGABYTES_PER_SECOND)));
        report.charts(List.of(Charts.bars(table, "bars", "tcp")));
        Path svg = directory.resolve("charts.svg");
        Path png = directory.resolve("charts.png");

        report.write(svg);
        report.write(png);

        assertThat(svg).content().contains("<svg", "<path");
        assertThat(Files.readAllBytes(png)).startsWith(0x89, 'P', 'N', 'G');
    }

    @ParameterizedTest
    @ValueSource(strings = {"plot", "plot.pdf", "svg"})
    void fileWithAnotherEndingIsRefused(String name) {
        assertThatThrownBy(() -> Report.check("--out", Path.of(name))).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("--out " + name + " must end in .json, .svg or .png");
    }

    @Test
    void messageNamesTheLibraryThatJavaCannotLoad() {
        Throwable missing = new UnsatisfiedLinkError(
            "libfontmanager.so: libharfbuzz.so.0: cannot open shared object file");

        assertThat(ChartFile.noText(new InternalError(new InvocationTargetException(missing))))
            .hasMessage("Java cannot draw the text of a chart: libfontmanager.so: libharfbuzz.so.0: cannot open shared"
                + " object file; install the packages fontconfig and libharfbuzz0b");
    }
}
