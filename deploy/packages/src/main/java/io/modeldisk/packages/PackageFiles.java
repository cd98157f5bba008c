package io.modeldisk.packages;

import io.modeldisk.command.Main;
import io.modeldisk.command.settings.Settings;
import io.modeldisk.platform.text.PlainText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;

/** Writes the manual pages and the bash completion into the file tree of the package. */
public final class PackageFiles {
    /** The width of the text of a manual page on a terminal with 80 columns. */
    private static final int WIDTH = 78;

    private PackageFiles() {}

    /** Writes the files. The arguments are the root of the file tree, and the version of the package. */
    public static void main(String[] arguments) throws IOException {
        Path root = Path.of(arguments[0]);
        CommandLine line = Main.commandLine().setUsageHelpAutoWidth(false).setUsageHelpWidth(WIDTH);
        write(Files.createDirectories(root.resolve("usr/share/man/man1")), line, arguments[1]);
        Path completions = Files.createDirectories(root.resolve("usr/share/bash-completion/completions"));
        // bash reads the file and does not run it, so the line #! is left out.
        Files.writeString(completions.resolve("modeldisk"),
            AutoComplete.bash("modeldisk", line).replaceFirst("^#!.*\n", ""));
    }

    private static void write(Path pages, CommandLine command, String version) throws IOException {
        CommandSpec spec = command.getCommandSpec();
        if (spec.usageMessage().hidden()) {
            return;
        }
        Files.writeString(pages.resolve(spec.qualifiedName("-") + ".1"), page(command, version));
        for (CommandLine sub : command.getSubcommands().values()) {
            write(pages, sub, version);
        }
    }

    /**
     * Returns the manual page of a command in the language of man(7). It contains the help text of the command, with the same
     * lines.
     */
    private static String page(CommandLine command, String version) {
        CommandSpec spec = command.getCommandSpec();
        String name = spec.qualifiedName("-");
        // The first sentence of the description, without its full stop.
        String summary = PlainText.format(spec.usageMessage().description()[0]).replaceFirst("(?s)[.:] .*|[.]$", "");
        String others = spec.parent() == null
            ? "mount.modeldisk(8), systemctl(1), /usr/share/doc/modeldisk/"
            : spec.parent().qualifiedName("-") + "(1), /usr/share/doc/modeldisk/";
        return PlainText.format("""
            .TH "%s" 1 "" "modeldisk %s" modeldisk
            .nh
            .ad l
            .SH NAME
            %s \\- %s
            .SH SYNOPSIS
            .in 1
            .nf
            %s
            .fi
            .SH "ENVIRONMENT AND FILES"
            Each option of a command is also a property, such as serve.block\\-size, and an environment variable, such as
            MODELDISK_SERVE_BLOCK_SIZE. MODELDISK_CONFIG names the file of properties, by default %s.
            .SH "SEE ALSO"
            %s
            """, name.toUpperCase(Locale.ROOT), version, roff(name), roff(summary),
            roff(command.getUsageMessage(Ansi.OFF).stripTrailing()), Settings.DEFAULT_FILE, roff(others));
    }

    /** Escapes the characters that have a meaning in man(7), also a dot or an apostrophe at the start of a line. */
    private static String roff(String words) {
        return words.replace("\\", "\\e").replace("-", "\\-").replaceAll("(?m)^([.'])", "\\\\&$1");
    }
}
