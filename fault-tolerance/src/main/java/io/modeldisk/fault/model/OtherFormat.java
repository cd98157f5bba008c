package io.modeldisk.fault.model;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Formats of files that users mistake for safetensors files, each with the first bytes of such a file. */
enum OtherFormat {
    /** The format that torch.save writes, for example in {@code pytorch_model.bin}. */
    ZIP("PK\3\4",
        "a zip archive, as torch.save writes it; load it with torch.load, and save its tensors with"
            + " safetensors.torch.save_file"),
    /** The format that torch.save wrote before PyTorch 1.6. */
    PICKLE("\u0080\2",
        "a pickle, as torch.save writes it; load it with torch.load, and save its tensors with"
            + " safetensors.torch.save_file"),
    /** The first line of a file that was cloned without Git LFS. */
    GIT_LFS("version ", "a pointer of Git LFS without the data; run git lfs pull"),
    /** The format of {@code model.safetensors.index.json}. */
    JSON("{",
        "JSON, such as the index of a model that consists of several files; save the whole model in one"
            + " .safetensors file"),
    /** The format of llama.cpp. */
    GGUF("GGUF", "a GGUF file; use the .safetensors file of the model");

    private final byte[] start;
    private final String remedy;

    OtherFormat(String start, String remedy) {
        this.start = start.getBytes(StandardCharsets.ISO_8859_1);
        this.remedy = remedy;
    }

    /** Returns the format of a file with these first eight bytes, and what the user must do; null if the format is unknown. */
    static String describe(ByteBuffer first) {
        for (OtherFormat format : values()) {
            if (first.slice(0, format.start.length).equals(ByteBuffer.wrap(format.start))) {
                return "this is " + format.remedy;
            }
        }
        return null;
    }
}
