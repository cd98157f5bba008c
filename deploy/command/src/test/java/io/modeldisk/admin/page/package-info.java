/** Tests of this package. */
package io.modeldisk.admin.page;
