/** How sides are measured in turn. */
package io.modeldisk.bench.protocol;
