package io.modeldisk.protocol.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.util.NativeAffinity;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.impl.NativeDispatcher;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests libdisni. The tests are skipped if modeldisk was built without this library. Only one test depends on RDMA devices. */
class RdmaLibraryTest {
    @BeforeEach
    void needsTheLibrary() {
        assumeTrue(getClass().getResource("libdisni.so") != null,
            "libdisni was not built because the verbs headers are missing");
    }

    @Test
    void libdisniImplementsEveryNativeMethodOfDisni() {
        List<String> missing = Stream.of(NativeDispatcher.class, NativeAffinity.class)
            .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
            .filter(method -> Modifier.isNative(method.getModifiers()))
            .map(method -> "Java_" + method.getDeclaringClass().getName().replace('.', '_') + "_"
                + method.getName().replace("_", "_1"))
            .filter(name -> RdmaLibrary.symbols().find(name).isEmpty())
            .toList();
        assertThat(missing).isEmpty();
    }

    @Test
    void libdisniHasTheVersionThatDisniExpects() {
        assertThat(RdmaLibrary.loadFailure()).isNull();
        assertThat(RdmaVerbs.getVersion()).isEqualTo(32);
    }

    @Test
    void processorAffinityHasTheValueThatWasSet() {
        assertThat(RdmaLibrary.loadFailure()).isNull();
        long before = NativeAffinity.getAffinity();
        try {
            long lowest = Long.lowestOneBit(before);
            NativeAffinity.setAffinity(lowest);
            assertThat(NativeAffinity.getAffinity()).isEqualTo(lowest);
        } finally {
            NativeAffinity.setAffinity(before);
        }
    }

    @Test
    void errorReportsThatTheMachineHasNoRdmaDevice() {
        assumeFalse(Rdma.isAvailable(), "this machine has an RDMA device");
        assertThat(Rdma.unavailabilityCause()).containsAnyOf("no RDMA device", "errno");
        assertThatThrownBy(Rdma::ensureAvailability).isInstanceOf(IOException.class)
            .hasMessageContaining(Rdma.unavailabilityCause());
    }
}
