package io.modeldisk.picture;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import org.junit.jupiter.api.Test;

final class PictureFileTest {
    @Test
    void messageNamesTheLibraryThatJavaCannotLoad() {
        Throwable missing = new UnsatisfiedLinkError(
            "libfontmanager.so: libharfbuzz.so.0: cannot open shared object file");
        Throwable failure = new InternalError(new InvocationTargetException(missing));

        assertThat(PictureFile.noText(failure))
            .hasMessage("Java cannot draw the text of a plot: libfontmanager.so: libharfbuzz.so.0: cannot open shared"
                + " object file; install the packages fontconfig and libharfbuzz0b")
            .hasCause(failure);
    }
}
