package io.modeldisk.packages;

import io.modeldisk.command.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Writes the manual pages and the completion of bash into the file tree of the package. */
public final class PackageFiles {
    private PackageFiles() {}

    /** Writes the files. The arguments are the root of the file tree, and the version of the package. */
    public static void main(String[] arguments) throws IOException {
        Path root = Path.of(arguments[0]);
        CommandLine line = Main.commandLine();
        Path pages = Files.createDirectories(root.resolve("usr/share/man/man1"));
        write(pages, line.getCommandSpec(), arguments[1]);
        Path helpers = Files.createDirectories(root.resolve("usr/share/man/man8"));
        Files.writeString(helpers.resolve("mount.modeldisk.8"),
            mountHelper(line.getSubcommands().get("mount").getCommandSpec(), arguments[1]));
        Path completions = Files.createDirectories(root.resolve("usr/share/bash-completion/completions"));
        // bash reads the file and does not run it, so the line #! is left out.
        Files.writeString(completions.resolve("modeldisk"),
            AutoComplete.bash("modeldisk", line).replaceFirst("^#!.*\n", ""));
    }

    private static void write(Path pages, CommandSpec command, String version) throws IOException {
        if (command.usageMessage().hidden()) {
            return;
        }
        Files.writeString(pages.resolve(command.qualifiedName("-") + ".1"), ManPage.of(command, version));
        for (CommandLine sub : command.subcommands().values()) {
            write(pages, sub.getCommandSpec(), version);
        }
    }

    private static String mountHelper(CommandSpec mount, String version) {
        ManPage page = new ManPage("mount.modeldisk", 8, version, "mounts a model, for mount(8) and fstab(5)");
        page.section("SYNOPSIS");
        page.line("mount -t modeldisk ADDRESS DIR [-o OPTION[,OPTION...]]");
        page.section("DESCRIPTION");
        page.paragraphs(List.of(
            "Mounts a model as files, and returns when the files can be used. A process in the background serves the files until "
                + "umount(8). If the mount fails, the status is 32, and the message has the reason.",
            "An entry of fstab needs the option _netdev, so that the mount waits for the network. If a shard is on the same "
                + "machine, x-systemd.requires=modeldisk-local-shards.service lets the mount wait for the shard:"));
        page.example("""
            modeldisk://127.0.0.1:3260/digits /mnt/digits modeldisk _netdev,exchange=overlap,uid=1000 0 0
            """);
        page.section("OPTIONS");
        page.entry("ro", "The same as read-only.");
        for (OptionSpec option : mount.options()) {
            String name = option.longestName().replaceFirst("^--", "");
            if (!option.usageHelp() && !option.versionHelp() && !option.hidden() && !name.equals("foreground")) {
                page.entry(option.arity().max() == 0 ? name : name + "=" + option.paramLabel(),
                    ManPage.description(option));
            }
        }
        page.entry("_netdev, nofail, noauto, user, x-*, and others",
            "Options for mount(8) and systemd have their usual meaning. Those that change what the kernel does, such as noatime, "
                + "have no effect. remount is refused.");
        page.section("SEE ALSO");
        page.line("modeldisk-mount(1), mount(8), fstab(5), systemd.mount(5)");
        return page.toString();
    }
}
