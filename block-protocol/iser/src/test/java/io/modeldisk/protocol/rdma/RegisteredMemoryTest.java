package io.modeldisk.protocol.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import com.ibm.disni.verbs.IbvMr;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the access flags with which memory is registered. The tests need no RDMA device. */
final class RegisteredMemoryTest {
    private static List<Integer> accessFlags(MemoryRights rights) throws IOException {
        List<Integer> asked = new ArrayList<>();
        try (DataMemory memory = DataMemory.allocate(4096)) {
            new RegisteredMemory((address, bytes, accessFlags) -> {
                assertThat(address).isEqualTo(memory.address(0));
                assertThat(bytes).isEqualTo(4096);
                asked.add(accessFlags);
                return null;
            }, memory, rights);
        }
        return asked;
    }

    @Test
    void memoryWithLocalRightsIsRegisteredWithoutRemoteAccess() throws IOException {
        assertThat(accessFlags(MemoryRights.LOCAL)).containsExactly(IbvMr.IBV_ACCESS_LOCAL_WRITE);
    }

    @Test
    void memoryWithRemoteRightsIsRegisteredForRemoteReadAndWrite() throws IOException {
        assertThat(accessFlags(MemoryRights.REMOTE)).containsExactly(
            IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ | IbvMr.IBV_ACCESS_REMOTE_WRITE);
    }
}
