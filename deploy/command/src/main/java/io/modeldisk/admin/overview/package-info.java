/**
 * What one process knows of a whole model: the status of its shards and learners, and of a mount, with the last minutes. The page
 * of {@code --admin} and {@code modeldisk top} show it. Nothing here knows HTML or a terminal.
 */
package io.modeldisk.admin.overview;
