/** How charts look, and how what is drawn becomes a file. Needs no display. */
package io.modeldisk.picture;
