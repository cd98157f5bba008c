package io.modeldisk.mount.fuse.jnr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.fuse.FileAccess;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.handover.Handover;
import io.modeldisk.platform.linux.ServiceManager;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("every-binding")
class JnrBindingTest {
    @Test
    void bindingIsFoundByItsName() {
        assertThat(FuseBinding.named("jnr")).isInstanceOf(JnrBinding.class);
    }

    @Test
    void mountThatOutlivesItsProcessIsRefused() {
        ServiceManager manager = new ServiceManager("@nobody", Duration.ZERO);
        FuseOptions options = new FuseOptions("m", 1, FileAccess.ofThisUser(), false, false,
            NanoClock.SYSTEM,
            DataMemory::allocate, Handover.of(manager, Map.of()));
        assertThatThrownBy(() -> FuseBinding.named("jnr").mount(Path.of("/m"), null, options))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("the binding jnr cannot hand its mount over");
    }
}
