/** The look of charts, and drawings as SVG and PNG files. Needs no display. */
package io.modeldisk.picture;
