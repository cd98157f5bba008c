package io.modeldisk.platform.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CallingProcessTest {
    private static final CallingProcess THIS = CallingProcess.ofThread(ProcessHandle.current().pid());

    @Test
    void threadsBelongToTheirProcess() throws Exception {
        List<String> threads;
        try (var all = Files.list(Path.of("/proc/self/task"))) {
            threads = all.map(thread -> thread.getFileName().toString()).toList();
        }
        // A thread of the JVM can end during the test.
        List<CallingProcess> processes = threads.stream().map(thread -> CallingProcess.ofThread(Long.parseLong(thread)))
            .filter(CallingProcess::isKnown).toList();
        assertThat(processes).hasSizeGreaterThan(1).containsOnly(THIS);
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
            assertThat(CallingProcess.of(child.id(), child.start())).isEqualTo(child);
            shell.outputWriter().close();
            shell.waitFor();
            assertThat(child.hasExited()).isTrue();
            CallingProcess former = CallingProcess.of(child.id(), child.start());
            assertThat(former.hasExited()).isTrue();
            assertThat(former).hasToString("process " + child.id());
        } finally {
            shell.destroyForcibly();
        }
    }

    /** Returns the process with the number in the next line of a shell. */
    private static CallingProcess next(BufferedReader lines) throws IOException {
        return CallingProcess.ofThread(Long.parseLong(lines.readLine()));
    }

    @Test
    void laterProcessWithTheNumberOfOneThatHasExitedIsAnotherProcess() {
        CallingProcess former = CallingProcess.of(THIS.id(), THIS.start() - 1);
        assertThat(former.isKnown()).isTrue();
        assertThat(former.hasExited()).isTrue();
        assertThat(THIS.isOrDescendsFrom(former)).isFalse();
        assertThat(CallingProcess.of(THIS.id(), 0)).isEqualTo(CallingProcess.UNKNOWN);
    }

    @Test
    void orphanedGrandchildDescendsFromTheLeaderOfItsGroup() throws Exception {
        // The leader waits for the process in between, and then writes its own number.
        Process leader = new ProcessBuilder("setsid", "sh", "-c",
            "sh -c 'sleep 100 >/dev/null & echo $!'; echo $$; read line").start();
        CallingProcess orphan = next(leader.inputReader());
        CallingProcess first = next(leader.inputReader());
        try {
            assertThat(ProcessHandle.of(orphan.id()).flatMap(ProcessHandle::parent)).isPresent().get()
                .isNotEqualTo(leader.toHandle());
            assertThat(orphan.isOrDescendsFrom(first)).isTrue();
            assertThat(first.isOrDescendsFrom(orphan)).isFalse();
            leader.outputWriter().close();
            leader.waitFor();
            assertThat(first.hasExited()).isTrue();
            assertThat(orphan.isOrDescendsFrom(first)).as("after the leader has exited").isTrue();
        } finally {
            ProcessHandle.of(orphan.id()).ifPresent(ProcessHandle::destroy);
            leader.destroy();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "set -m; "})
    void twoBackgroundProcessesOfAShellDoNotDescendFromEachOther(String jobControl) throws Exception {
        Process shell = new ProcessBuilder("bash", "-c",
            jobControl + "sleep 100 & echo $!; sleep 100 & echo $!; read line; kill %1 %2").start();
        try {
            CallingProcess one = next(shell.inputReader());
            CallingProcess two = next(shell.inputReader());
            assertThat(one.isKnown()).isTrue();
            assertThat(one.isOrDescendsFrom(two)).isFalse();
            assertThat(two.isOrDescendsFrom(one)).isFalse();
        } finally {
            shell.outputWriter().close();
            shell.waitFor();
        }
    }

    @Test
    void processThatOnlyWaitsForItsParentHasExited() throws Exception {
        Process parent = new ProcessBuilder("python3", "-c", """
            import os, sys
            child = os.fork()
            if child == 0:
                sys.stdin.readline()
                os._exit(0)
            print(child, flush=True)
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
            print("exited", flush=True)
            sys.stdin.read()
            """).start();
        try {
            CallingProcess child = next(parent.inputReader());
            assertThat(child.hasExited()).isFalse();
            parent.outputWriter().write("exit\n");
            parent.outputWriter().flush();
            assertThat(parent.inputReader().readLine()).isEqualTo("exited");
            assertThat(Path.of("/proc/" + child.id())).exists();
            assertThat(child.hasExited()).isTrue();
        } finally {
            parent.destroy();
        }
    }

    @Test
    void nameOfAProgramIsPrintable(@TempDir Path directory) throws Exception {
        Path program = Files.copy(Path.of("/bin/sleep"), directory.resolve("a\nb\u001b[1m\\"));
        Process process = new ProcessBuilder(program.toString(), "100").start();
        try {
            assertThat(CallingProcess.ofThread(process.pid()).name()).isEqualTo("a b\\u001B[1m\\\\");
        } finally {
            process.destroy();
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
