/** Tests of pictures. */
package io.modeldisk.picture;
