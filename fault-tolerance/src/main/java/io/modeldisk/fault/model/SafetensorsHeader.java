package io.modeldisk.fault.model;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The JSON header of a safetensors file. For each tensor, the header has an entry with {@code dtype}, {@code shape} and
 * {@code data_offsets}. The optional entry {@code __metadata__} is a map of strings.
 *
 * <p>Source: <a href="https://github.com/huggingface/safetensors#format">the format's description</a>.
 */
final class SafetensorsHeader {
    static final String METADATA = "__metadata__";

    /** The offset of a tensor without {@code data_offsets}. */
    static final long NO_OFFSET = -1;

    private static final JsonFactory JSON = JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
        .build();

    private final JsonParser parser;
    private final boolean onlyNames;
    private final List<Tensor> tensors = new ArrayList<>();
    private final Map<String, String> metadata = new LinkedHashMap<>();

    private SafetensorsHeader(JsonParser parser, boolean onlyNames) {
        this.parser = parser;
        this.onlyNames = onlyNames;
    }

    /**
     * Parses a header and compares it with the length of the data. The tensors must fill the data without gaps and overlaps.
     *
     * @return the tensors, in the order of their data, and the entries of {@code __metadata__}
     */
    static Content parse(byte[] header, long dataBytes) throws IOException {
        SafetensorsHeader read = read(header, false);
        return new Content(inOrder(read.tensors, dataBytes, "the file"), read.metadata);
    }

    /** The contents of a header. */
    record Content(List<Tensor> tensors, Map<String, String> metadata) {}

    /**
     * Parses a text in the form of a header, in which {@code dtype} and {@code data_offsets} can be absent. A tensor without
     * offsets has {@link #NO_OFFSET}. Checks neither sizes nor offsets.
     *
     * @return the tensors, in the order of the text
     */
    static List<Tensor> parseNames(byte[] text) throws IOException {
        return read(text, true).tensors;
    }

    private static SafetensorsHeader read(byte[] header, boolean onlyNames) throws IOException {
        try (JsonParser parser = JSON.createParser(header)) {
            SafetensorsHeader reading = new SafetensorsHeader(parser, onlyNames);
            reading.readTensors();
            return reading;
        } catch (JsonProcessingException e) {
            throw new InvalidSafetensorsException("the header is not valid JSON: " + e.getOriginalMessage(), e);
        }
    }

    /**
     * Checks that the tensors fill the data without gaps and overlaps.
     *
     * @param whole the name of the object that has the data, for messages
     * @return the tensors, in the order of their data
     */
    static List<Tensor> inOrder(List<Tensor> tensors, long dataBytes, String whole) throws InvalidSafetensorsException {
        for (Tensor tensor : tensors) {
            tensor.validate(dataBytes);
        }
        List<Tensor> sorted = new ArrayList<>(tensors);
        sorted.sort(Comparator.comparingLong(Tensor::begin).thenComparingLong(Tensor::end));
        long end = 0;
        for (Tensor tensor : sorted) {
            if (tensor.begin() != end) {
                throw new InvalidSafetensorsException(
                    "tensor '" + tensor.name() + "' begins at byte " + tensor.begin()
                        + (tensor.begin() < end ? ", inside a tensor that ends at byte " : ", after a gap from byte ")
                        + end);
            }
            end = tensor.end();
        }
        if (end != dataBytes) {
            throw new InvalidSafetensorsException(
                "the tensors end at byte " + end + ", but " + whole + " has " + dataBytes + " bytes of data");
        }
        return sorted;
    }

    private void readTensors() throws IOException {
        expect(parser.nextToken(), JsonToken.START_OBJECT, "the header");
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            if (name.equals(METADATA)) {
                readMetadata();
            } else {
                tensors.add(readTensor(name));
            }
        }
        if (parser.nextToken() != null) {
            throw new InvalidSafetensorsException(
                "the header continues after the closing brace with " + parser.currentToken());
        }
    }

    private void readMetadata() throws IOException {
        expect(parser.currentToken(), JsonToken.START_OBJECT, METADATA);
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            expect(parser.nextToken(), JsonToken.VALUE_STRING, METADATA + " entry '" + name + "'");
            metadata.put(name, parser.getText());
        }
    }

    private Tensor readTensor(String name) throws IOException {
        String where = "tensor '" + name + "'";
        expect(parser.currentToken(), JsonToken.START_OBJECT, where);
        String type = null;
        long[] shape = null;
        long[] offsets = null;
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String field = parser.currentName();
            parser.nextToken();
            switch (field) {
                case "dtype" -> {
                    expect(parser.currentToken(), JsonToken.VALUE_STRING, where + " dtype");
                    type = parser.getText();
                }
                case "shape" -> shape = readIntegers(where + " shape");
                case "data_offsets" -> offsets = readIntegers(where + " data_offsets");
                default -> throw new InvalidSafetensorsException(where + " has unknown field '" + field + "'");
            }
        }
        if (onlyNames) {
            type = type == null ? TensorType.F32.name() : type;
            offsets = offsets == null ? new long[]{NO_OFFSET, NO_OFFSET} : offsets;
            if (shape == null) {
                throw new InvalidSafetensorsException(where + " must have a shape, such as {\"shape\": [10, 784]}");
            }
        }
        if (type == null || shape == null || offsets == null) {
            throw new InvalidSafetensorsException(where + " must have dtype, shape and data_offsets");
        }
        if (offsets.length != 2) {
            throw new InvalidSafetensorsException(where + " has " + offsets.length + " data_offsets, but must have 2");
        }
        return new Tensor(name, type, shape, offsets[0], offsets[1]);
    }

    private long[] readIntegers(String where) throws IOException {
        expect(parser.currentToken(), JsonToken.START_ARRAY, where);
        long[] values = new long[4];
        int count = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            expect(parser.currentToken(), JsonToken.VALUE_NUMBER_INT, where);
            if (count == values.length) {
                values = Arrays.copyOf(values, 2 * count);
            }
            values[count++] = parser.getLongValue();
        }
        return Arrays.copyOf(values, count);
    }

    private void expect(JsonToken token, JsonToken expected, String where) throws IOException {
        if (token != expected) {
            throw new InvalidSafetensorsException(
                where + " has " + (token == null ? "nothing" : parser.getText()) + ", but " + describe(expected)
                    + " is expected");
        }
    }

    private static String describe(JsonToken token) {
        return switch (token) {
            case START_OBJECT -> "an object";
            case START_ARRAY -> "an array";
            case VALUE_STRING -> "a string";
            default -> "an integer";
        };
    }
}
