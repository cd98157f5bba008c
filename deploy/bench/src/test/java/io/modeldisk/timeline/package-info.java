/** Tests of timelines and learning curves. */
package io.modeldisk.timeline;
