package io.modeldisk.fault.journal;

import java.nio.file.Path;

/**
 * A complete segment of a journal.
 *
 * @param file the file
 * @param number the number of the segment
 * @param lastPosition the position of its last record
 * @param bytes the length of the file
 */
record Segment(Path file, long number, long lastPosition, long bytes) {}
