package io.modeldisk.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The formulas in docs/operations.md. They are in table rows whose first cell is a name and whose second cell is a formula, both
 * marked as code.
 */
final class Formulas {
    static final Path PAGE = Pages.ROOT.resolve("docs/operations.md");

    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(\\w+)` \\| `([^`-][^`]*)` \\|");
    private static final Pattern TOKEN = Pattern.compile("\\w+|[^\\w\\s]");

    private final Map<String, String> formulas = new LinkedHashMap<>();

    Formulas() throws IOException {
        Matcher rows = ROW.matcher(Files.readString(PAGE));
        while (rows.find()) {
            formulas.put(rows.group(1), rows.group(2));
        }
    }

    /** Evaluates the formulas. Returns the given quantities together with the computed ones. */
    Map<String, Long> evaluate(Map<String, Long> given) {
        Map<String, Long> values = new HashMap<>(given);
        formulas.forEach((name, formula) -> {
            double value = new Evaluation(formula, values).whole();
            if (value != Math.rint(value)) {
                throw new AssertionError("the formula of " + name + " in " + PAGE + " gives " + value
                    + ", which is not a whole number of bytes");
            }
            values.put(name, (long) value);
        });
        return values;
    }

    /** Evaluates one formula of numbers and names with {@code + - * /}, parentheses, CEILING, MIN and MAX. */
    private static final class Evaluation {
        private final String formula;
        private final Map<String, Long> values;
        private final Iterator<String> tokens;
        private String next;

        Evaluation(String formula, Map<String, Long> values) {
            this.formula = formula;
            this.values = values;
            this.tokens = TOKEN.matcher(formula).results().map(MatchResult::group).iterator();
            next();
        }

        private String next() {
            String before = next;
            next = tokens.hasNext() ? tokens.next() : "";
            return before;
        }

        private void require(boolean valid) {
            if (!valid) {
                throw new AssertionError(
                    "the formula '" + formula + "' in " + PAGE + " is wrong before '" + next + "'");
            }
        }

        double whole() {
            double value = sum();
            require(next.isEmpty());
            return value;
        }

        private double sum() {
            double value = product();
            while (List.of("+", "-").contains(next)) {
                value += next().equals("+") ? product() : -product();
            }
            return value;
        }

        private double product() {
            double value = factor();
            while (List.of("*", "/").contains(next)) {
                value = next().equals("*") ? value * factor() : value / factor();
            }
            return value;
        }

        private double factor() {
            String word = next.equals("(") ? "" : next();
            if (next.equals("(")) {
                return call(word);
            }
            require(word.matches("\\d+") || values.containsKey(word));
            return word.matches("\\d+") ? Long.parseLong(word) : values.get(word);
        }

        private double call(String function) {
            next();
            double value = sum();
            switch (function) {
                case "CEILING" -> value = Math.ceil(value);
                case "MIN" -> value = Math.min(value, second());
                case "MAX" -> value = Math.max(value, second());
                default -> require(function.isEmpty());
            }
            require(next().equals(")"));
            return value;
        }

        private double second() {
            require(next().equals(","));
            return sum();
        }
    }
}
