/** Tests of files with secrets. */
package io.modeldisk.platform.files;
