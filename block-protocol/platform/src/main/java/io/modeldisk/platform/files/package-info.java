/** Changes of files and directories that survive a failure of power. */
package io.modeldisk.platform.files;
