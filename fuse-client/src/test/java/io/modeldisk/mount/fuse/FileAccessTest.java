package io.modeldisk.mount.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FileAccessTest {
    private static final int MOUNTER = 1000;
    private static final FileAccess OWN = own(FileAccess.DEFAULT_MODE, false);

    private static FileAccess own(int mode, boolean others) {
        return new FileAccess(MOUNTER, MOUNTER, mode, others);
    }

    @Test
    void onlyTheOwnerCanReadAndWriteByDefault() {
        assertThat(OWN.isShared(MOUNTER)).isFalse();
        assertThat(OWN.fileBits(true)).isEqualTo(0600);
        assertThat(OWN.fileBits(false)).isEqualTo(0400);
        assertThat(OWN.directoryBits()).isEqualTo(0500);
    }

    @Test
    void lastDigitOfTheModeAppliesOnlyWithAllowOther() {
        assertThat(own(0666, false).fileBits(true)).isEqualTo(0660);
        FileAccess open = own(0666, true);
        assertThat(open.fileBits(true)).isEqualTo(0666);
        assertThat(open.directoryBits()).isEqualTo(0555);
        assertThat(open.isShared(MOUNTER)).isTrue();
    }

    @Test
    void mountIsSharedWhenAnotherUserOrAGroupHasAccess() {
        assertThat(new FileAccess(0, MOUNTER, FileAccess.DEFAULT_MODE, false).isShared(MOUNTER)).isTrue();
        assertThat(own(0640, false).isShared(MOUNTER)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 0700, 0200, 01600, -1})
    void modeWithoutOwnerReadBitOrWithInvalidBitsIsRefused(int mode) {
        assertThatThrownBy(() -> own(mode, false)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageStartingWith("mode=" + Integer.toOctalString(mode));
    }
}
