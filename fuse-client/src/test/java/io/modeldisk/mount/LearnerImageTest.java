package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.exchange.TestSettings;
import io.modeldisk.striping.SessionsImage;
import io.modeldisk.test.Images;
import org.junit.jupiter.api.Test;

class LearnerImageTest {
    @Test
    void decodedImageEqualsTheEncodedImage() throws Exception {
        try (MemoryModel model = new MemoryModel(1 << 20);
            Exchange exchange = ExchangeScheme.OVERLAP.create(model, TestSettings.defaults())) {
            LearnerImage image = new LearnerImage(7, SessionsImage.NONE, exchange.image());
            byte[] bytes = image.toBytes();
            assertThat(Images.values(LearnerImage.of(bytes))).isEqualTo(Images.values(image));
            assertThat(new LearnerImage(0, SessionsImage.NONE, exchange.image()).toBytes()).hasSameSizeAs(bytes);
        }
    }
}
