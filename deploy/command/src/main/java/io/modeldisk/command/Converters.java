package io.modeldisk.command;

import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.platform.units.DurationText;
import java.time.Duration;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts the text of an option to a size or a duration, in the same way for all commands. */
public final class Converters {
    private Converters() {}

    /** Registers the converters for options of the types {@link ByteSize} and {@link Duration}. */
    public static CommandLine register(CommandLine line) {
        return line.registerConverter(ByteSize.class, text -> convert(ByteSize::parse, text))
            .registerConverter(Duration.class, text -> convert(DurationText::parse, text));
    }

    /** Converts the text of an option to a duration. A number without a unit is in milliseconds. */
    public static final class Milliseconds implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            return Converters.convert(each -> DurationText.parse(each, "ms"), text);
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
