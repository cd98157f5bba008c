/** Tests of the Linux calls, with trees of files in place of /proc and /sys where a machine must differ. */
package io.modeldisk.platform.linux;
