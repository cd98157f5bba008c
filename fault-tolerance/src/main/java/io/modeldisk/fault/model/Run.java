package io.modeldisk.fault.model;

import io.modeldisk.aggregator.HalfKernels;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Neighbouring tensors of a safetensors file that have the same type. The model has their values in float32.
 *
 * @param type F32, BF16 or F16
 * @param fileBegin the start of the values in the data of the file, in bytes
 * @param modelBegin the start of the values in the model, in bytes
 * @param count the number of values, at least 1
 */
record Run(TensorType type, long fileBegin, long modelBegin, long count) {
    /** Returns the runs of all values of these tensors, which are in the order of their data. */
    static List<Run> of(List<Tensor> tensors) {
        List<Run> runs = new ArrayList<>();
        for (Tensor tensor : tensors) {
            TensorType type = TensorType.named(tensor.type());
            long count = (tensor.end() - tensor.begin()) / type.elementBytes();
            if (count == 0) {
                continue;
            }
            Run last = runs.isEmpty() ? null : runs.getLast();
            if (last != null && last.type == type) {
                runs.set(runs.size() - 1, new Run(type, last.fileBegin, last.modelBegin, last.count + count));
            } else {
                runs.add(new Run(type, tensor.begin(), last == null ? 0 : last.modelEnd(), count));
            }
        }
        return runs;
    }

    /** Returns these tensors as they are in the model: as float32. */
    static List<Tensor> inFloat32(List<Tensor> tensors) {
        List<Tensor> wide = new ArrayList<>();
        long begin = 0;
        for (Tensor tensor : tensors) {
            long count = (tensor.end() - tensor.begin()) / TensorType.named(tensor.type()).elementBytes();
            long end = begin + count * Float.BYTES;
            wide.add(new Tensor(tensor.name(), TensorType.F32.name(), tensor.shape(), begin, end));
            begin = end;
        }
        return wide;
    }

    long modelEnd() {
        return modelBegin + count * Float.BYTES;
    }

    /** Converts an offset in the model to the offset of the same value in the data of the file. */
    long inFile(long modelOffset) {
        return fileBegin + (modelOffset - modelBegin) / Float.BYTES * type.elementBytes();
    }

    /** Converts values of a 16-bit type to float32. */
    void widen(MemorySegment to, MemorySegment from, int values) {
        switch (type) {
            case BF16 -> HalfKernels.bfloat16ToFloat32(to, 0, from, 0, values);
            case F16 -> HalfKernels.float16ToFloat32(to, 0, from, 0, values);
            default -> throw new IllegalStateException(type + " cannot be converted to float32");
        }
    }
}
