/** Changes of files and directories that survive a failure of power, and files with secrets. */
package io.modeldisk.platform.files;
