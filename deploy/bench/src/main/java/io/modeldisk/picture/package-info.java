/** Draws pictures into SVG and PNG files, and defines the look of charts. This package needs no display. */
package io.modeldisk.picture;
