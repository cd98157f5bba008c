package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.units.ByteSize;
import java.util.List;

/**
 * The result of {@code bench aggregator --device}. Throughputs are in bytes per second.
 *
 * @param device the number and the name of the device
 * @param emulated whether the device is emulated, so that the figures have no meaning
 * @param name the name of the aggregator
 * @param bytesPerByte the bytes of device memory that a fold must read and write for each byte of gradient
 */
public record GpuReport(
    String device, boolean emulated, String name, int bytesPerByte, List<Folds> folds, List<Pushes> pushes)
    implements
        Report {
    private static final int COPY_BYTES_PER_BYTE = 2;

    /**
     * Folds in device memory. All bytes that are read and written are counted.
     *
     * @param blocks the number of blocks of each launch
     * @param fold the throughput of the folds
     * @param memcpy the throughput of copies on the device, each of as many bytes as a launch folds
     */
    public record Folds(int blockBytes, int blocks, Samples fold, Samples memcpy) {}

    /**
     * Pushes through pinned host memory. The bytes of the blocks are counted, once.
     *
     * @param blocks the number of blocks of each launch
     * @param toDevice the throughput of copies to the device alone, one for each block
     * @param toHost the throughput of copies to the host alone, one for each block
     * @param push the throughput of copy to the device, fold, and copy to the host
     */
    public record Pushes(int blockBytes, int blocks, Samples toDevice, Samples toHost, Samples push) {}

    @Override
    public String benchmark() {
        return "aggregator on a device";
    }

    @Override
    public String text() {
        StringBuilder text = new StringBuilder();
        if (emulated) {
            text.append("The device is emulated. The figures show only that the benchmark runs.\n");
        }
        text.append(PlainText.format("%s on %s%n", name, device));
        Table ofFolds = new Table(1, "block", "blocks a launch", "fold GB/s", "memcpy GB/s", "fold / memcpy");
        for (Folds each : folds) {
            ofFolds.row(ByteSize.exact(each.blockBytes), Integer.toString(each.blocks),
                Units.throughput(each.fold.median()), Units.throughput(each.memcpy.median()),
                Units.ratio(each.fold.over(each.memcpy)));
        }
        text.append(
            PlainText.format(
                "%nFolds in device memory. For each byte of gradient, a fold reads and writes %d bytes, and memcpy %d.%n%n",
                bytesPerByte, COPY_BYTES_PER_BYTE))
            .append(ofFolds);
        if (!pushes.isEmpty()) {
            Table ofPushes = new Table(1, "block", "blocks a launch", "copy to the device GB/s",
                "copy to the host GB/s", "push GB/s", "push / copy to the device");
            for (Pushes each : pushes) {
                ofPushes.row(ByteSize.exact(each.blockBytes), Integer.toString(each.blocks),
                    Units.throughput(each.toDevice.median()), Units.throughput(each.toHost.median()),
                    Units.throughput(each.push.median()), Units.ratio(each.push.over(each.toDevice)));
            }
            text.append(
                "\nPushes through pinned host memory: copy to the device, fold, and copy of the weights to the host,"
                    + " on three streams.\n\n")
                .append(ofPushes);
        }
        return text.toString();
    }

    @Override
    public void addTo(ObjectNode root) {
        root.put("device", device).put("emulated", emulated).put("aggregator", name);
        root.put("foldBytesPerByte", bytesPerByte).put("memcpyBytesPerByte", COPY_BYTES_PER_BYTE);
        ArrayNode ofFolds = root.putArray("folds");
        for (Folds each : folds) {
            ObjectNode node = ofFolds.addObject().put("blockBytes", each.blockBytes).put("blocks", each.blocks);
            ReportFiles.put(node, "foldBytesPerSecond", each.fold);
            ReportFiles.put(node, "memcpyBytesPerSecond", each.memcpy);
            ReportFiles.put(node, "foldOverMemcpy", each.fold.over(each.memcpy));
        }
        ArrayNode ofPushes = root.putArray("pushes");
        for (Pushes each : pushes) {
            ObjectNode node = ofPushes.addObject().put("blockBytes", each.blockBytes).put("blocks", each.blocks);
            ReportFiles.put(node, "toDeviceBytesPerSecond", each.toDevice);
            ReportFiles.put(node, "toHostBytesPerSecond", each.toHost);
            ReportFiles.put(node, "pushBytesPerSecond", each.push);
            ReportFiles.put(node, "pushOverToDevice", each.push.over(each.toDevice));
        }
    }
}
