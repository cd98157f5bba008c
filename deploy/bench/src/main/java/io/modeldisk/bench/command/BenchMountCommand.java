package io.modeldisk.bench.command;

import io.modeldisk.command.ExitStatus;
import io.modeldisk.bench.mount.MountBench;
import io.modeldisk.bench.shard.Datamovers;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code modeldisk bench mount}. */
@Command(name = "mount", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:All measurements are complete.",
        "1:A measurement has failed, for example because a program that it needs is not installed.",
        ExitStatus.WRONG},
    description = {
        "Measures reads and writes of a mount with fio: with --exchange direct, one at a time (pread, pwrite) and eight in "
            + "flight (libaio). These measurements alternate with those of a file of the same binding that moves no data, and of "
            + "the protocol without a mount. `bench training --through mount,mapped` measures the time of a learner.",
        "The shard drops pushed gradients. The shard and each mount run in their own processes."},
    footer = {"", "Examples:", "  modeldisk bench mount", "  modeldisk bench mount --sizes 256k --rounds 5"})
final class BenchMountCommand implements Callable<Integer> {
    private static final long LARGEST_REQUEST_BYTES = 4 << 20;

    @Option(names = "--sizes", paramLabel = "BYTES", split = ",", defaultValue = "4k,64k,256k,1m,4m",
        description = "The sizes of reads and writes: multiples of 4 KiB up to 4 MiB.")
    private List<ByteSize> sizes;

    @Option(names = "--binding", paramLabel = "NAME", split = ",", defaultValue = "kernel,jnr",
        description = "One or more of kernel and jnr. The report gives the reason if a binding is unavailable.")
    private List<String> bindings;

    @Option(names = "--datamover", paramLabel = "NAME", split = ",", defaultValue = "shm,tcp",
        description = "One or more of shm, tcp and iser. The report gives the reason if a datamover is unavailable.")
    private List<String> datamovers;

    @Mixin
    private ReportOptions output;

    @Override
    public Integer call() throws IOException {
        output.write(bench().run());
        return 0;
    }

    /** Returns the benchmark that the options describe. Throws an {@code IllegalArgumentException} if a value is out of range. */
    MountBench bench() {
        bindings.forEach(FuseBinding::named);
        for (ByteSize size : sizes) {
            Arguments.require(
                size.bytes() >= LogicalBlock.BYTES && size.bytes() <= LARGEST_REQUEST_BYTES
                    && size.bytes() % LogicalBlock.BYTES == 0,
                "--sizes " + size.bytes() + " must be a multiple of 4096 from " + LogicalBlock.BYTES + " to "
                    + LARGEST_REQUEST_BYTES);
        }
        return new MountBench(bindings.stream().distinct().toList(), Datamovers.named(datamovers),
            sizes.stream().map(size -> (int) size.bytes()).distinct().toList(), output.check());
    }
}
