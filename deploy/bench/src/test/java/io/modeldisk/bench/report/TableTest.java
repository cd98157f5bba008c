package io.modeldisk.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class TableTest {
    @Test
    void tableAlignsWordsToTheLeftAndNumbersToTheRight() {
        assertThat(new Table(1, "name", "GB/s").row("a", "1.5").row("longer", "10.25")).hasToString("""
            name     GB/s
            a         1.5
            longer  10.25
            """);
    }

    @Test
    void gapInATableIsAnEmptyLineBetweenAlignedRows() {
        assertThat(new Table(1, "a", "b").row("1", "2").gap().row("3", "44")).hasToString("""
            a   b
            1   2

            3  44
            """);
    }

    @Test
    void tableLinesHaveNoTrailingBlanks() {
        assertThat(new Table(2, "a", "heading", "b").row("1", "2", "").toString().lines())
            .containsExactly("a  heading  b", "1  2");
    }

    @Test
    void emptyTableColumnIsAllowed() {
        assertThat(new Table(1, "a", "").row("1", "").toString().lines()).containsExactly("a", "1");
    }

    @Test
    void tableRowWithMoreCellsThanColumnsIsRefused() {
        Table table = new Table(1, "a", "b");
        assertThatThrownBy(() -> table.row("1", "2", "3")).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("the row has 3 cells, but the table has 2 columns");
    }
}
