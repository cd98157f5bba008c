package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.knowm.xchart.CategoryChart;

/** The result of a benchmark, for a terminal, for programs and as charts. */
public interface Report {
    /** The name of the benchmark. */
    String benchmark();

    /** The tables for a terminal. */
    String text();

    /** Adds every measured figure to a JSON object. */
    void addTo(ObjectNode root);

    /** Rows of charts; none by default. */
    default List<List<CategoryChart>> charts() {
        return List.of();
    }
}
