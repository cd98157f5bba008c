package io.modeldisk.mount.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.SharedMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class MountStateTest {
    @AutoClose
    private final MountState state;

    MountStateTest() throws IOException {
        state = MountState.create("learner=l\nmodel=m\n", 100);
    }

    private void save(long... values) {
        ByteBuffer content = state.beginImage();
        for (long value : values) {
            content.putLong(value);
        }
        state.endImage(content);
    }

    private static List<Long> values(ByteBuffer image) {
        List<Long> found = new ArrayList<>();
        while (image.hasRemaining()) {
            found.add(image.getLong());
        }
        return found;
    }

    /** Maps the state a second time, as the next process does. */
    private MountState adopted() throws IOException {
        return MountState.adopt(duplicate(state.descriptor()));
    }

    /** Returns another descriptor of the same memory, because an adopted state closes its own. */
    private static int duplicate(int descriptor) {
        return Descriptors.open("/proc/self/fd/" + descriptor,
            Descriptors.O_RDWR);
    }

    @Test
    void anotherProcessSeesTheNewestImage() throws IOException {
        assertThat(state.image()).isNull();
        save(1, 2);
        save(3);
        save(4, 5, 6);
        try (MountState other = adopted()) {
            assertThat(values(other.image())).containsExactly(4L, 5L, 6L);
            assertThat(other.identity()).isEqualTo("learner=l\nmodel=m\n");
            assertThat(other.takeOrder()).isFalse();
            state.stoppedInOrder();
            assertThat(other.takeOrder()).isTrue();
            assertThat(other.takeOrder()).isFalse();
        }
    }

    @Test
    void incompleteImageLeavesThePreviousImage() {
        save(1);
        save(2);
        state.beginImage().putLong(3);
        assertThat(values(state.image())).containsExactly(2L);
        state.dropImages();
        assertThat(state.image()).isNull();
    }

    @Test
    void anotherProcessSeesTheOpenFiles() throws IOException {
        assertThat(state.opened(3, 7, true, 99)).isTrue();
        assertThat(state.opened(0, 2, false, 98)).isTrue();
        assertThat(state.opened(1, 2, false, 97)).isTrue();
        assertThat(state.opened(MountState.FILES, 2, false, 96)).isFalse();
        state.polled(0, 55);
        state.released(1);
        List<String> files = new ArrayList<>();
        try (MountState other = adopted()) {
            other.forEachFile(
                (number, node, writable, poll) -> files.add(number + " " + node + " " + writable + " " + poll));
            assertThat(files).containsExactly("0 2 false 55", "3 7 true 0");
            assertThat(other.openedBy(99)).isEqualTo(3);
            assertThat(other.openedBy(97)).isEqualTo(-1);
        }
    }

    @Test
    void anotherProcessSeesTheMemoryThatTheKernelUses() throws IOException {
        state.memory(8, 1, 1);
        state.memory(9, 2, 1);
        state.memory(8, 1, 2);
        state.memory(9, 2, 0);
        state.memory(10, 3, 1);
        List<String> files = new ArrayList<>();
        state.forEachMemory((node, number, handles) -> files.add(node + " " + number + " " + handles));
        assertThat(files).containsExactly("8 1 2", "10 3 1");
    }

    @Test
    void stateOfAnotherLayoutIsRefused() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            SharedMemory.Mapping mapping = SharedMemory.create(1 << 20, arena);
            assertThatThrownBy(() -> MountState.adopt(duplicate(mapping.descriptor())))
                .hasMessageContaining("another version of modeldisk");
            SharedMemory.Mapping again = SharedMemory.adopt(duplicate(state.descriptor()), arena);
            again.segment().set(ValueLayout.JAVA_INT, 8, 4);
            assertThatThrownBy(() -> MountState.adopt(duplicate(state.descriptor())))
                .hasMessageContaining("layout 4, but this process can read only layout 3");
        }
    }
}
