/** Tests of this package. */
package io.modeldisk.admin.overview;
