package io.modeldisk.mount.exchange;

import java.io.IOException;
import java.io.Serial;

/** A gradient was refused because of a NaN or an infinity. No part of it was pushed. */
final class NonFiniteGradientException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    NonFiniteGradientException(long iteration) {
        super("the gradient of iteration " + iteration
            + " has a NaN or an infinity, which would destroy the weights; no part of"
            + " it was pushed, and the next gradient takes its place (see `modeldisk serve --non-finite`)");
    }
}
