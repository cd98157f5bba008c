/** Tests of the exchange schemes without a mount. */
package io.modeldisk.mount.exchange;
