package io.modeldisk.aggregator.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import jcuda.nvptxcompiler.JNvPTXCompiler;
import jcuda.nvptxcompiler.nvPTXCompileResult;
import jcuda.nvptxcompiler.nvPTXCompilerHandle;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Assembles the kernels with NVIDIA's assembler. The assembler needs no GPU. */
class PtxTest {
    /**
     * With at most 48 registers per thread, a streaming multiprocessor of the GPU has enough registers for 5 groups of 256
     * threads at the same time. With fewer registers per thread, it could run up to 8 groups.
     */
    private static final int MAX_REGISTERS = 48;

    private static final Map<String, Integer> ENTRIES = Map.of("copy", 3, "sgd", 3, "squares", 1, "adam", 1, "norm", 1);

    /** A kernel file, and the GPU architecture for which it is assembled. */
    record Target(String file, String architecture) {}

    static Stream<Target> targets() {
        return ENTRIES.keySet().stream().sorted()
            .flatMap(file -> Stream.of("sm_70", "sm_80", "sm_90").map(architecture -> new Target(file, architecture)));
    }

    @BeforeAll
    static void checkProcessor() {
        assumeTrue(System.getProperty("os.arch").equals("amd64"), "JCuda has no native library for this processor");
    }

    @ParameterizedTest
    @MethodSource("targets")
    void kernelsAssembleWithoutSpillsAndWithinTheRegisterLimit(Target target) {
        String log = assemble(Kernel.ptx(target.file), target.architecture);
        Map<String, Integer> registers = new HashMap<>();
        Matcher entries = Pattern
            .compile("entry function '(\\w+)'.*?(\\d+) bytes spill stores, (\\d+) bytes spill loads"
                + ".*?Used (\\d+) registers", Pattern.DOTALL)
            .matcher(log);
        while (entries.find()) {
            assertThat(entries.group(2) + entries.group(3)).as("spills of %s", entries.group(1)).isEqualTo("00");
            registers.put(entries.group(1), Integer.valueOf(entries.group(4)));
        }
        assertThat(registers).as(log).hasSize(ENTRIES.get(target.file));
        assertThat(registers.values()).as(registers.toString()).allMatch(count -> count <= MAX_REGISTERS);
    }

    private static String assemble(String ptx, String architecture) {
        byte[] text = (ptx + "\0").getBytes(StandardCharsets.UTF_8);
        nvPTXCompilerHandle compiler = new nvPTXCompilerHandle();
        assertThat(JNvPTXCompiler.nvPTXCompilerCreate(compiler, text.length, text)).isZero();
        try {
            String[] options = {"--gpu-name=" + architecture, "--verbose"};
            int result = JNvPTXCompiler.nvPTXCompilerCompile(compiler, options.length, options);
            long[] bytes = new long[1];
            JNvPTXCompiler.nvPTXCompilerGetErrorLogSize(compiler, bytes);
            byte[] errors = new byte[(int) bytes[0] + 1];
            JNvPTXCompiler.nvPTXCompilerGetErrorLog(compiler, errors);
            assertThat(result).as(new String(errors, StandardCharsets.UTF_8))
                .isEqualTo(nvPTXCompileResult.NVPTXCOMPILE_SUCCESS);
            JNvPTXCompiler.nvPTXCompilerGetInfoLogSize(compiler, bytes);
            byte[] log = new byte[(int) bytes[0] + 1];
            JNvPTXCompiler.nvPTXCompilerGetInfoLog(compiler, log);
            return new String(log, StandardCharsets.UTF_8);
        } finally {
            JNvPTXCompiler.nvPTXCompilerDestroy(compiler);
        }
    }
}
