/** Changes to files and directories that survive a power failure, private files, and files with secrets. */
package io.modeldisk.platform.files;
