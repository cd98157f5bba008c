/**
 * The page {@code /} of {@code --admin}. The server only forwards the reports of the shards and of the mount. The scripts in the
 * browser compute rates, waits and faults, and draw the charts.
 */
package io.modeldisk.admin.page;
