package io.modeldisk.command.settings;

import io.modeldisk.platform.text.PeerText;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.platform.units.DurationText;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.TypeConversionException;

/** Converts the text of an option to a size, a duration or a path, in the same way for all commands. */
public final class Converters {
    private Converters() {}

    /** Registers the converters for options of the types {@link ByteSize}, {@link Duration} and {@link Path}. */
    public static CommandLine register(CommandLine line) {
        return line.registerConverter(ByteSize.class, text -> convert(ByteSize::parse, text))
            .registerConverter(Duration.class, text -> convert(DurationText::parse, text))
            .registerConverter(Path.class, Converters::path);
    }

    private static Path path(String text) {
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new TypeConversionException(
                "the path '" + PeerText.printable(text) + "' has a character that the charset "
                    + System.getProperty("sun.jnu.encoding")
                    + " of this process cannot encode; start it in a locale with UTF-8, such"
                    + " as LC_ALL=C.UTF-8");
        }
    }

    private static <T> T convert(Function<String, T> parser, String text) {
        try {
            return parser.apply(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
