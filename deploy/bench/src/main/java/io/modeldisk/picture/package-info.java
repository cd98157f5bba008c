/** The look of charts, and pictures as SVG and PNG files. This package needs no display. */
package io.modeldisk.picture;
