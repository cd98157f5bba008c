/**
 * The page {@code /} of {@code --admin}. The server only passes on what the shards and the mount report; rates, waits, faults and
 * charts are the work of the scripts in the browser.
 */
package io.modeldisk.admin.page;
