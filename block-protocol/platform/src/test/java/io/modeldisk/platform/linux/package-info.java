/** Tests of the Linux calls. Some tests replace /proc and /sys by directories of files, to simulate another machine. */
package io.modeldisk.platform.linux;
