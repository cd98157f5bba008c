import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Converts the classes of jar files that were compiled for Java 5 or older to classes for Java 8. Usage:
 * {@code java Modernize.java JAR...}. Java verifies such old classes slowly, and cannot store them in an ahead-of-time cache. The
 * conversion does not change the behaviour of a class: it changes the version, and adds the StackMapTable, which the verifier
 * uses since Java 6. deploy/image/cache converts picocli with this program.
 */
public final class Modernize {
    private Modernize() {}

    public static void main(String[] arguments) throws IOException {
        for (String argument : arguments) {
            modernize(Path.of(argument));
        }
    }

    private static void modernize(Path jar) throws IOException {
        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()});
            FileSystem files = FileSystems.newFileSystem(URI.create("jar:" + jar.toUri()), Map.of());
            Stream<Path> walk = Files.walk(files.getPath("/"))) {
            List<Path> classes = walk.filter(file -> file.toString().endsWith(".class")).toList();
            ClassFile format = ClassFile.of(ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
                ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(loader)
                    .orElse(ClassHierarchyResolver.defaultResolver())));
            ClassTransform newer = ClassTransform.transformingMethodBodies(CodeTransform.ACCEPT_ALL)
                .andThen((builder, element) -> builder.with(
                    element instanceof ClassFileVersion ? ClassFileVersion.of(ClassFile.JAVA_8_VERSION, 0) : element));
            for (Path file : classes) {
                ClassModel old = format.parse(Files.readAllBytes(file));
                if (old.majorVersion() < ClassFile.JAVA_6_VERSION) {
                    Files.write(file, format.transformClass(old, newer));
                }
            }
        }
    }
}
