package io.modeldisk.aggregator.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the error messages without a usable GPU, and devices, their memory and their streams. */
class CudaTest {
    private static final String LIBRARY = "libcuda.so.1";
    private static final int BYTES = 4096;

    @BeforeEach
    void setUp() {
        Emulator.assumeEmulated();
        Emulator.reset(1);
    }

    @Test
    void emulatedDeviceIsAvailable() {
        assertThat(Cuda.unavailabilityCause()).isNull();
        assertThat(Cuda.isAvailable()).isTrue();
        assertThat(Cuda.deviceCount()).isEqualTo(1);
        try (CudaDevice device = CudaDevice.open(0, BYTES)) {
            assertThat(device).hasToString("cuda:0 (emulated 0)");
            assertThat(device.computeCapability()).isEqualTo("7.0");
            assertThat(device.totalBytes()).isEqualTo(Emulator.MEMORY_BYTES);
        }
    }

    @Test
    void errorReportsAMissingDriver() {
        assertThat(Cuda.failure("libcuda-missing.so.1")).isEqualTo(
            "NVIDIA's driver is missing: the library libcuda-missing.so.1 cannot be loaded; install the driver, or name"
                + " the folder of the library in LD_LIBRARY_PATH");
    }

    /** The error is the result of the first call to the driver, or 0 for no error. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "0 | 12060 | 0 | NVIDIA's driver finds no device; check with nvidia-smi",
        "1 | 10020 | 0 | NVIDIA's driver is too old: it supports CUDA 10.2, and CUDA 11.0 is needed; update the driver",
        "1 | 12060 | 999 | NVIDIA's driver does not start: CUDA_ERROR_UNKNOWN (999); check with nvidia-smi, and load the module"
            + " nvidia_uvm with `nvidia-modprobe -u -c 0`"})
    void errorStatesTheReasonIfTheDriverCannotBeUsed(int devices, int version, int error, String message) {
        Emulator.reset(devices, version, 7, 0, 1);
        Emulator.fail(1, error, false);
        assertThat(Cuda.failure(LIBRARY)).isEqualTo(message);
    }

    @Test
    void unknownDeviceNumberIsRefused() {
        assertThatThrownBy(() -> CudaDevice.open(1, BYTES))
            .hasMessage("there is no device cuda:1; this machine has only cuda:0");
        Emulator.reset(3, Emulator.VERSION, 7, 0, 1);
        assertThatThrownBy(() -> CudaDevice.open(-1, BYTES))
            .hasMessage("there is no device cuda:-1; this machine has cuda:0 to cuda:2");
    }

    @Test
    void deviceThatIsTooOldIsRefused() {
        Emulator.reset(1, Emulator.VERSION, 6, 1, 1);
        assertThatThrownBy(() -> CudaDevice.open(0, BYTES)).hasMessage(
            "the device cuda:0 (emulated 0) has the compute capability 6.1; at least 7.0 is needed");
    }

    @Test
    void budgetAboveTheFreeMemoryIsRefused() {
        long tooMuch = Emulator.MEMORY_BYTES + 1;
        assertThatThrownBy(() -> CudaDevice.open(0, tooMuch)).hasMessage("a memory budget of " + tooMuch
            + " B is not possible, because the device cuda:0 (emulated 0) has only 256 MiB of free memory");
        assertThat(Emulator.live()).isZero();
    }

    @Test
    void allocationBeyondTheBudgetIsRefusedUntilMemoryIsFreed() {
        try (CudaDevice device = CudaDevice.open(0, 2 * BYTES)) {
            DeviceMemory first = device.allocate(BYTES);
            assertThatThrownBy(() -> device.allocate(BYTES + 1)).hasMessage(
                "4097 B of memory of the device cuda:0 (emulated 0) cannot be allocated: 4 KiB of a budget of 8 KiB are in use");
            first.free();
            first.free();
            device.allocate(2 * BYTES);
            assertThatThrownBy(() -> device.allocate(1)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void hostCannotAccessDeviceMemory() throws IOException {
        try (CudaDevice device = CudaDevice.open(0, BYTES)) {
            long address = device.allocate(BYTES).address();
            assertThat(Files.readAllLines(Path.of("/proc/self/maps"))).filteredOn(line -> {
                String[] range = line.split(" ")[0].split("-");
                return Long.compareUnsigned(address, Long.parseUnsignedLong(range[0], 16)) >= 0
                    && Long.compareUnsigned(address, Long.parseUnsignedLong(range[1], 16)) < 0;
            }).singleElement().asString().contains("---p");
        }
    }

    @Test
    void registeredMemoryIsCopiedLikeAllocatedMemory() throws InterruptedException {
        try (Arena arena = Arena.ofShared(); CudaDevice device = CudaDevice.open(0, BYTES)) {
            MemorySegment own = arena.allocate(BYTES, 4096);
            own.fill((byte) 5);
            PinnedMemory registered = device.register(own);
            PinnedMemory result = device.allocatePinned(BYTES);
            DeviceMemory memory = device.allocate(BYTES);
            CudaStream stream = device.newStream();
            stream.copyToDevice(registered, memory, BYTES);
            stream.copyToHost(memory.slice(BYTES / 2, 16), result.slice(32, 16), 16);
            Emulator.awaitWork(device, stream);
            assertThat(result.segment().asSlice(32, 16).mismatch(own.asSlice(0, 16))).isEqualTo(-1);
            assertThatThrownBy(() -> stream.copyToHost(memory.slice(8, 16), result, 17))
                .isInstanceOf(IndexOutOfBoundsException.class);
            registered.free();
        }
        assertThat(Emulator.leaked()).isZero();
    }

    @Test
    void deviceMemoryIsCopiedWithinTheDevice() throws InterruptedException {
        try (CudaDevice device = CudaDevice.open(0, 2 * BYTES)) {
            PinnedMemory host = device.allocatePinned(BYTES);
            host.segment().fill((byte) 7);
            PinnedMemory result = device.allocatePinned(BYTES);
            DeviceMemory from = device.allocate(BYTES);
            DeviceMemory to = device.allocate(BYTES);
            CudaStream stream = device.newStream();
            stream.copyToDevice(host, from, BYTES);
            stream.clear(to);
            stream.copyOnDevice(from.slice(BYTES / 2, BYTES / 2), to, BYTES / 2);
            stream.copyToHost(to, result, BYTES);
            Emulator.awaitWork(device, stream);
            assertThat(result.segment().mismatch(host.segment())).isEqualTo(BYTES / 2);
            assertThatThrownBy(() -> stream.copyOnDevice(from.slice(0, 16), to, 17))
                .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void recordedEventIsIncompleteUntilThePrecedingWorkIsDone() throws InterruptedException {
        try (CudaDevice device = CudaDevice.open(0, BYTES)) {
            CudaEvent never = device.newEvent();
            assertThat(never.isComplete()).isTrue();
            CudaStream stream = device.newStream();
            DeviceMemory memory = device.allocate(BYTES);
            for (int i = 0; i < 1000; i++) {
                stream.clear(memory);
            }
            stream.record(never);
            assertThat(Emulator.await(never::isComplete, 0)).isFalse();
            assertThat(Emulator.await(never::isComplete, 30_000)).isTrue();
        }
    }

    /** Tests the emulator itself: a test must be able to find a missing event. */
    @Test
    void emulatorGivesWrongResultsInSomeOrdersIfAnEventIsMissing() throws InterruptedException {
        boolean right = false;
        boolean wrong = false;
        for (long seed = 1; seed <= 50; seed++) {
            Emulator.reset(seed);
            try (CudaDevice device = CudaDevice.open(0, BYTES)) {
                CudaStream first = device.newStream();
                CudaStream second = device.newStream();
                PinnedMemory host = device.allocatePinned(BYTES);
                DeviceMemory memory = device.allocate(BYTES);
                first.clear(memory);
                second.copyToHost(memory, host, BYTES);
                Emulator.awaitWork(device, second);
                boolean cleared = host.segment().get(ValueLayout.JAVA_INT, 0) == 0;
                right |= cleared;
                wrong |= !cleared;
            }
        }
        assertThat(right && wrong).isTrue();
    }
}
