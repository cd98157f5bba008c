package io.modeldisk.mount.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FileAccessTest {
    private static final int MOUNTER = 1000;
    private static final FileAccess OWN = new FileAccess(MOUNTER, MOUNTER, FileAccess.DEFAULT_MODE, false);

    @Test
    void onlyTheOwnerMayReadAndWriteByDefault() {
        assertThat(OWN.isShared(MOUNTER)).isFalse();
        assertThat(OWN.fileBits(true)).isEqualTo(0600);
        assertThat(OWN.fileBits(false)).isEqualTo(0400);
        assertThat(OWN.directoryBits()).isEqualTo(0500);
    }

    @Test
    void lastDigitOfTheModeAppliesOnlyWithAllowOther() {
        assertThat(OWN.withMode(0666).fileBits(true)).isEqualTo(0660);
        FileAccess open = OWN.withMode(0666).withOthers(true);
        assertThat(open.fileBits(true)).isEqualTo(0666);
        assertThat(open.directoryBits()).isEqualTo(0555);
        assertThat(open.isShared(MOUNTER)).isTrue();
    }

    @Test
    void mountIsSharedWhenAnotherUserOrAGroupHasAccess() {
        assertThat(OWN.withUser(0).isShared(MOUNTER)).isTrue();
        assertThat(OWN.withMode(0640).isShared(MOUNTER)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 0700, 0200, 01600, -1})
    void modeWithoutOwnerReadBitOrWithInvalidBitsIsRefused(int mode) {
        assertThatThrownBy(() -> OWN.withMode(mode)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageStartingWith("mode=" + Integer.toOctalString(mode));
    }
}
