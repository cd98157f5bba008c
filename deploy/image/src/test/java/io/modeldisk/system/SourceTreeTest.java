package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the names of folders in the source tree. */
final class SourceTreeTest {
    private static final Path ROOT = Path.of(System.getProperty("project.root"));

    /** Build tools skip every folder named {@code target}, because they assume that it contains Maven output. */
    @Test
    void onlyMavenOutputFoldersAreNamedTarget() throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = folder.getFileName().toString();
                if (name.equals("target")) {
                    if (!Files.exists(folder.resolveSibling("pom.xml"))) {
                        found.add(ROOT.relativize(folder));
                    }
                    return FileVisitResult.SKIP_SUBTREE;
                }
                return name.equals(".git") ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }
        });
        assertThat(found).isEmpty();
    }
}
