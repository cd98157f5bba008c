/** The page {@code /} of {@code --admin}: an {@link io.modeldisk.admin.overview.Overview} in a browser. */
package io.modeldisk.admin.page;
