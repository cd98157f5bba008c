package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests programs that map the files model and weights, whose content is not memory of the mount. */
@Tag("mount")
@Timeout(120)
final class MappedFilesTest {
    private static final int SIZE = (2 << 20) + 20;

    @AutoClose
    private MountFixture fixture;

    @BeforeEach
    void mount() throws Exception {
        assumeTrue(MountFixture.mapsFiles(), "a map of a file needs Linux 6.6");
        fixture = new MountFixture(SIZE).launch("sync");
        fixture.model.fill(5);
    }

    private void run(String program) throws IOException, InterruptedException {
        fixture.shell
            .succeed("python3 - <<'P'\nimport mmap, os\nfolder = os.environ['DIR']\nsize = " + SIZE + "\n" + program
                + "\nP");
    }

    @Test
    void everyKindOfMapShowsTheWeights() throws Exception {
        run("""
            for name in ('model', 'weights'):
                for mode, access in (('rb', mmap.ACCESS_READ), ('rb', mmap.ACCESS_COPY), ('r+b', mmap.ACCESS_WRITE)):
                    with open(folder + '/' + name, mode) as f:
                        m = mmap.mmap(f.fileno(), 0, access=access)
                    assert m[:] == b'\\5' * size, (name, mode)
                    m.close()
            """);
    }

    @Test
    void mapShowsNewWeightsAfterAnFsync() throws Exception {
        run("""
            maps = []
            for name in ('model', 'weights'):
                with open(folder + '/' + name, 'rb') as f:
                    maps.append(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ))
            f = os.open(folder + '/model', os.O_RDWR)
            for m in maps: assert m[7] == m[size - 1] == 5
            os.pwrite(f, b'\\1' * size, 0)
            os.fsync(f)
            for m in maps: assert m[:] == b'\\6' * size, m[7]
            """);
    }

    @Test
    void bytesStoredInAMapOfTheWeightsReplaceWeights() throws Exception {
        run("""
            with open(folder + '/weights', 'r+b') as f:
                m = mmap.mmap(f.fileno(), 0)
            m[4000:9000] = b'x' * 5000
            m[size - 1] = 9
            m.flush()
            with open(folder + '/weights', 'rb') as f:
                assert f.read() == b'\\5' * 4000 + b'x' * 5000 + b'\\5' * (size - 9001) + b'\\t'
            """);
        assertThat(fixture.model.weight(4000)).isEqualTo((byte) 'x');
    }

    @Test
    void bytesStoredInAMapOfTheModelAreNotPushed() throws Exception {
        run("""
            with open(folder + '/model', 'r+b') as f:
                m = mmap.mmap(f.fileno(), 0)
            m[100] = 1
            try: m.flush(); raise SystemExit('msync succeeded')
            except OSError: pass
            m.close()
            with open(folder + '/model', 'rb') as f: assert f.read() == b'\\5' * size
            """);
        assertThat(fixture.model.pushes).isEmpty();
    }
}
