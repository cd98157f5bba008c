/** Timelines of iterations and learning curves, read from files and drawn as pictures. This package contains no measurement. */
package io.modeldisk.timeline;
