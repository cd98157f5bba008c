/** Changes of files and directories that survive a failure of power, private files, and files with secrets. */
package io.modeldisk.platform.files;
