/** Tests of the disk that loses what was not synchronized. */
package io.modeldisk.test.disk;
