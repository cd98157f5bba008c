/**
 * What one process knows of a whole model: the status of its shards and learners, and of a mount, with the last minutes. The page
 * of {@code --admin} shows it. Nothing here knows HTML.
 */
package io.modeldisk.admin.overview;
