package io.modeldisk.fault.coordination;

/** The paths of the znodes of a model. */
final class ModelPaths {
    /** The parent of the znodes of all models. */
    static final String ROOT = "/modeldisk";

    private ModelPaths() {}
}
