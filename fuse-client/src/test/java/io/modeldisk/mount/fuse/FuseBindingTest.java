package io.modeldisk.mount.fuse;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class FuseBindingTest {
    @Test
    void errorForABindingWithoutLibrariesNamesTheFolderOfTheLibraries() {
        assertThatThrownBy(() -> FuseBinding.named("jnr")).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("binding=jnr needs libraries that are not on the class path")
            .hasMessageContaining("lib/jnr");
    }

    @Test
    void errorForAnUnknownBindingListsTheValidNames() {
        assertThatThrownBy(() -> FuseBinding.named("fuse3")).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("binding=fuse3 must be one of kernel, jnr");
    }
}
