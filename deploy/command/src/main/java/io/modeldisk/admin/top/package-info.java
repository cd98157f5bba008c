/** {@code modeldisk top}: an {@link io.modeldisk.admin.overview.Overview} on a terminal. */
package io.modeldisk.admin.top;
