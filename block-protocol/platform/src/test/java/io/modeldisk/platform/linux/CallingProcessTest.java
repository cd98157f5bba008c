package io.modeldisk.platform.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class CallingProcessTest {
    private static final CallingProcess THIS = CallingProcess.ofThread(ProcessHandle.current().pid());

    @Test
    void threadsBelongToTheirProcess() throws Exception {
        List<String> threads;
        try (var all = Files.list(Path.of("/proc/self/task"))) {
            threads = all.map(thread -> thread.getFileName().toString()).toList();
        }
        assertThat(threads).hasSizeGreaterThan(1).allSatisfy(
            thread -> assertThat(CallingProcess.ofThread(Long.parseLong(thread))).isEqualTo(THIS));
        assertThat(THIS).hasToString("process " + ProcessHandle.current().pid() + " (java)");
    }

    @Test
    void grandchildDescendsFromItsGrandparentButNotTheReverse() throws Exception {
        Process shell = new ProcessBuilder("sh", "-c", "sh -c 'echo $$; read line'; true").start();
        try {
            CallingProcess child = CallingProcess.ofThread(shell.pid());
            CallingProcess grandchild = CallingProcess.ofThread(Long.parseLong(shell.inputReader().readLine()));
            assertThat(grandchild.isOrDescendsFrom(THIS)).isTrue();
            assertThat(grandchild.isOrDescendsFrom(child)).isTrue();
            assertThat(child.isOrDescendsFrom(child)).isTrue();
            assertThat(child.isOrDescendsFrom(grandchild)).isFalse();
            assertThat(THIS.isOrDescendsFrom(child)).isFalse();
            assertThat(child.hasExited()).isFalse();
            shell.outputWriter().close();
            shell.waitFor();
            assertThat(child.hasExited()).isTrue();
        } finally {
            shell.destroyForcibly();
        }
    }

    @Test
    void threadOfAnotherNamespaceIsUnknown() {
        CallingProcess unknown = CallingProcess.ofThread(0);
        assertThat(unknown.isKnown()).isFalse();
        assertThat(unknown.hasExited()).isFalse();
        assertThat(unknown.isOrDescendsFrom(THIS)).isFalse();
        assertThat(unknown).hasToString("an unknown process");
    }
}
