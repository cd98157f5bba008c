package io.modeldisk.docs;

import com.ezylang.evalex.EvaluationException;
import com.ezylang.evalex.Expression;
import com.ezylang.evalex.parser.ParseException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The formulas in the tables of docs/operations.md: rows whose first two cells are code, a name and a formula. */
final class Formulas {
    static final Path PAGE = Pages.ROOT.resolve("docs/operations.md");

    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(\\w+)` \\| `([^`-][^`]*)` \\|");

    private final Map<String, String> formulas = new LinkedHashMap<>();

    Formulas() throws IOException {
        Matcher rows = ROW.matcher(Files.readString(PAGE));
        while (rows.find()) {
            formulas.put(rows.group(1), rows.group(2));
        }
    }

    /** Returns the given quantities and those that the formulas compute from them. */
    Map<String, Long> evaluate(Map<String, Long> given) {
        Map<String, Long> values = new HashMap<>(given);
        formulas.forEach((name, formula) -> {
            try {
                values.put(name,
                    new Expression(formula).withValues(values).evaluate().getNumberValue().longValueExact());
            } catch (EvaluationException | ParseException | ArithmeticException e) {
                throw new AssertionError("the formula of " + name + " in " + PAGE + " cannot be evaluated: " + formula,
                    e);
            }
        });
        return values;
    }
}
