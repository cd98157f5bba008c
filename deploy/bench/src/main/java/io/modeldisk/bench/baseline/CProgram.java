package io.modeldisk.bench.baseline;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A C program, compiled with gcc for the processor of this machine. The program is deleted when this object is closed. */
public final class CProgram implements AutoCloseable {
    private static final List<String> COMPILER = List.of("gcc", "-O3", "-march=native", "-fno-math-errno");

    private final Path directory;
    private final Path source;
    private final Path program;

    private CProgram(Path directory, String name) {
        this.directory = directory;
        this.source = directory.resolve(name + ".c");
        this.program = directory.resolve(name);
    }

    /**
     * Compiles a C program.
     *
     * @param owner the class whose package has the resource {@code NAME.c}
     * @throws IOException if gcc is missing or fails
     */
    public static CProgram compile(Class<?> owner, String name) throws IOException {
        CProgram compiled = new CProgram(Files.createTempDirectory("modeldisk-bench"), name);
        try (InputStream text = owner.getResourceAsStream(name + ".c")) {
            Files.copy(text, compiled.source);
            compiled.runCompiler();
            return compiled;
        } catch (IOException e) {
            compiled.close();
            throw e;
        }
    }

    private void runCompiler() throws IOException {
        Process gcc;
        try {
            List<String> command = new ArrayList<>(COMPILER);
            command.addAll(List.of("-o", program.toString(), source.toString(), "-lm"));
            gcc = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new IOException(
                "the C program was not compiled because gcc is missing; install gcc and libc6-dev", e);
        }
        try (BufferedReader output = new BufferedReader(
            new InputStreamReader(gcc.getInputStream(), StandardCharsets.UTF_8))) {
            String said = String.join("\n", output.readAllLines());
            if (gcc.waitFor() != 0) {
                throw new IOException("the C program was not compiled because gcc failed:\n" + said);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the wait for gcc was interrupted", e);
        }
    }

    /** Starts the program. Its standard error is that of this process. */
    public Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(source);
        Files.deleteIfExists(program);
        Files.delete(directory);
    }
}
