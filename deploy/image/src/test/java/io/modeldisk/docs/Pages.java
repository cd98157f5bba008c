package io.modeldisk.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds the pages of the documentation and the commands in them. */
final class Pages {
    static final Path ROOT = Path.of(System.getProperty("project.root"));

    private static final Pattern SHELL_BLOCK = Pattern.compile("^```sh\\n(.*?)^```$",
        Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern HERE_DOCUMENT = Pattern.compile("<<END\\n.*?^END$",
        Pattern.DOTALL | Pattern.MULTILINE);

    private Pages() {}

    /** Returns the paths of README.md, CHANGELOG.md, PROTOCOL.md and the pages in docs/. */
    static List<Path> all() throws IOException {
        List<Path> pages = new ArrayList<>(
            List.of(ROOT.resolve("README.md"), ROOT.resolve("CHANGELOG.md"), ROOT.resolve(
                "block-protocol/iscsi/src/main/java/io/modeldisk/protocol/dialect/PROTOCOL.md")));
        try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
            docs.filter(page -> page.toString().endsWith(".md")).sorted().forEach(pages::add);
        }
        return pages;
    }

    /** Returns the command lines in a page's shell blocks, without comments, here-documents and a final ampersand. */
    static List<String> commands(Path page) throws IOException {
        List<String> commands = new ArrayList<>();
        Matcher blocks = SHELL_BLOCK.matcher(Files.readString(page));
        while (blocks.find()) {
            String block = HERE_DOCUMENT.matcher(blocks.group(1)).replaceAll("").replace("\\\n", " ");
            block.lines().map(line -> line.replaceFirst("(^|\\s)#.*$", "").replaceFirst("\\s&\\s*$", "").strip())
                .filter(line -> !line.isEmpty())
                .forEach(commands::add);
        }
        return commands;
    }
}
