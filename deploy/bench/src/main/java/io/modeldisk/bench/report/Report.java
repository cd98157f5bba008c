package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.knowm.xchart.CategoryChart;

/** The result of a benchmark, as text, JSON and charts. */
public interface Report {
    /** The name of the benchmark. */
    String benchmark();

    /** Returns the tables as text for a terminal. */
    String text();

    /** Adds every measured figure to a JSON object. */
    void addTo(ObjectNode root);

    /** Returns the rows of charts. By default, a report has no charts. */
    default List<List<CategoryChart>> charts() {
        return List.of();
    }
}
