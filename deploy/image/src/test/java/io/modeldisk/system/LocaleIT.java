package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.striping.StripedModel;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the command in locales whose digits or letters differ from those of English, and in locales without UTF-8. The tests run
 * on a JDK, because the Java runtime in the Debian packages contains no data of such locales.
 */
@Timeout(240)
final class LocaleIT {
    private static final int SIZE_BYTES = 1 << 20;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private static Map<String, String> in(String locale) {
        String[] parts = locale.split("_");
        return Map.of("JDK_JAVA_OPTIONS", "-Duser.language=" + parts[0] + " -Duser.country=" + parts[1]);
    }

    @ParameterizedTest
    @CsvSource({"ar_EG,checkpoint", "fa_IR,journal", "tr_TR,journal"})
    void restartedShardHasIdenticalWeightsInEveryLocale(String locale, String durability) throws Exception {
        Path state = sandbox.path("state");
        Object[] serve = modeldisk("serve", "--listen", "127.0.0.1:0", "--model", "m", "--size", SIZE_BYTES,
            "--aggregator", "adam:lr=0.1", "--state", state, "--durability", durability, "--checkpoint-every", "1h");
        Running shard = sandbox.start("serve", in(locale), serve);
        Shards shards = new Shards("m", List.of(Command.port(shard)));
        try (DataMemory memory = DataMemory.allocate(SIZE_BYTES); StripedModel model = connect(shards)) {
            push(model, memory, 3);
            String folder = sandbox.run(in(locale), modeldisk("checkpoint", shards.address())).succeeded().strip();
            assertThat(folder).endsWith(state + "/checkpoint-000001");
            if (durability.equals("journal")) {
                push(model, memory, 2);
            }
            byte[] before = weights(model, memory);
            shard.kill();
            assertThat(names(state)).allMatch(name -> StandardCharsets.US_ASCII.newEncoder().canEncode(name));

            Running again = sandbox.start("serve", in(locale), serve);
            Shards both = new Shards("m", List.of(Command.port(again)));
            assertThat(sandbox.run(in(locale), modeldisk("status", both.address())).succeeded())
                .contains("model m: 1 MiB in 4 blocks of 256 KiB on 1 shard");
            try (StripedModel continued = connect(both)) {
                assertThat(weights(continued, memory)).isEqualTo(before);
            }
        }
    }

    /**
     * Returns a shell command that runs in this locale. In the command, {@code $dir} is a directory whose name contains a letter
     * that is not in ASCII, and {@code $2} is modeldisk.
     */
    private Object[] inAccentedDirectory(String locale, String command) {
        return new Object[]{"bash", "-c",
            "unset LANG LC_CTYPE; export LC_ALL=" + locale + "; dir=$1/$'\\303\\251tat'; " + command,
            "bash", sandbox.path(""), modeldisk()[0]};
    }

    @ParameterizedTest
    @ValueSource(strings = {"C", "C.UTF-8", "xx_YY.UTF-8"})
    void shardUsesAStateDirectoryWithAccentsInEveryLocale(String locale) throws Exception {
        Running shard = sandbox.start("serve", inAccentedDirectory(locale,
            "exec \"$2\" serve --listen 127.0.0.1:0 --model m --size 1MiB --state \"$dir\""));
        Command.port(shard);
        sandbox.run(inAccentedDirectory("C", "test -e \"$dir\"/identity")).succeeded();
    }

    @Test
    @Tag("mount")
    void unmountFindsADirectoryWithAccentsFromAnotherLocale() throws Exception {
        Programs.requireMounting();
        Shards shards = Shards.launch(sandbox, "m", 1, 1 << 20, context -> context);
        for (String[] locales : new String[][]{{"C.UTF-8", "C"}, {"C", "C.UTF-8"}}) {
            sandbox.run(inAccentedDirectory(locales[0],
                "mkdir -p \"$dir\" && \"$2\" mount " + shards.address() + " \"$dir\"")).succeeded();
            sandbox.run(inAccentedDirectory(locales[1], "\"$2\" unmount \"$dir\"")).succeeded();
            assertThat(sandbox.mounts()).isEmpty();
        }
    }

    @Test
    @Tag("mount")
    void jnrBindingMountsInALocaleWithNonLatinDigits() throws Exception {
        Programs.requireMounting();
        Shards shards = Shards.launch(sandbox, "m", 1, 1 << 20, context -> context);
        Path directory = sandbox.directory("m");
        sandbox.run(in("ar_EG"), modeldisk("mount", "--binding", "jnr", shards.address(), directory)).succeeded();
        sandbox.run(in("ar_EG"), modeldisk("unmount", directory)).succeeded();
    }

    private static StripedModel connect(Shards shards) throws Exception {
        StripedModel model = StripedModel.connect(shards.context());
        model.join();
        return model;
    }

    private static void push(StripedModel model, DataMemory memory, int rounds) throws Exception {
        Random random = new Random(rounds);
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < SIZE_BYTES / Float.BYTES; i++) {
                memory.slab(0).setAtIndex(ValueLayout.JAVA_FLOAT, i, random.nextFloat() - 0.5f);
            }
            model.push(0, memory, 0, SIZE_BYTES, Cancellation.NONE);
        }
    }

    private static byte[] weights(StripedModel model, DataMemory memory) throws Exception {
        model.pull(0, memory, 0, SIZE_BYTES, Cancellation.NONE);
        return memory.slab(0).asSlice(0, SIZE_BYTES).toArray(ValueLayout.JAVA_BYTE);
    }

    private static List<String> names(Path directory) throws Exception {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.map(file -> directory.relativize(file).toString()).toList();
        }
    }
}
