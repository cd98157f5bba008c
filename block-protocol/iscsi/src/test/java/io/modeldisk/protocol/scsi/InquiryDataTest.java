package io.modeldisk.protocol.scsi;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Decodes VPD pages as an initiator does (SPC-4 7.8). */
class InquiryDataTest {
    private static final int TYPE_T10 = 1;
    private static final int TYPE_EUI_64 = 2;
    private static final int TYPE_RELATIVE_PORT = 4;
    private static final int TYPE_PORT_GROUP = 5;
    private static final int TYPE_SCSI_NAME = 8;
    private static final int OF_UNIT = 0;
    private static final int OF_PORT = 1;
    private static final int OF_DEVICE = 2;

    private record Designator(int association, int type, byte[] value) {
        String text() {
            return new String(value, StandardCharsets.UTF_8).replace("\0", "");
        }
    }

    @Test
    void deviceIdentificationHasDesignatorsOfTheUnitThePortAndTheDevice() {
        List<Designator> found = designators(1, 0);

        assertThat(found).extracting(Designator::association)
            .containsExactly(OF_UNIT, OF_UNIT, OF_PORT, OF_DEVICE);
        assertThat(found).extracting(Designator::type)
            .containsExactly(TYPE_T10, TYPE_EUI_64, TYPE_SCSI_NAME, TYPE_SCSI_NAME);
        assertThat(found.get(1).value()).hasSize(8).startsWith(0x11, 0x22);
        assertThat(found.get(2).text()).isEqualTo("iqn.2026-11.io.modeldisk:m,t,0x0001");
        assertThat(found.get(3).text()).isEqualTo("iqn.2026-11.io.modeldisk:m");
    }

    @Test
    void deviceIdentificationWithPortGroupsAlsoHasDesignatorsOfTheRelativePortAndTheGroup() {
        List<Designator> found = designators(0x1A, 2);

        assertThat(found).extracting(Designator::association)
            .containsExactly(OF_UNIT, OF_UNIT, OF_PORT, OF_PORT, OF_PORT, OF_DEVICE);
        assertThat(found).extracting(Designator::type)
            .containsExactly(TYPE_T10, TYPE_EUI_64, TYPE_RELATIVE_PORT, TYPE_PORT_GROUP, TYPE_SCSI_NAME,
                TYPE_SCSI_NAME);
        assertThat(found.get(2).value()).containsExactly(0, 0, 0, 2);
        assertThat(found.get(3).value()).containsExactly(0, 0, 0, 2);
        assertThat(found.get(4).text()).isEqualTo("iqn.2026-11.io.modeldisk:m,t,0x001A");
    }

    private static List<Designator> designators(int portalGroupTag, int portGroup) {
        byte[] page = InquiryData.deviceIdentification("model", "0123", 0x1122334455667788L,
            "iqn.2026-11.io.modeldisk:m", portalGroupTag, portGroup);
        List<Designator> list = new ArrayList<>();
        int at = 4;
        while (at < page.length) {
            int length = page[at + 3] & 0xFF;
            list.add(new Designator(page[at + 1] >> 4 & 3, page[at + 1] & 0xF,
                Arrays.copyOfRange(page, at + 4, at + 4 + length)));
            at += 4 + length;
        }
        assertThat(at).as("end of the last designator").isEqualTo(page.length);
        return list;
    }
}
