package io.modeldisk.fault.journal;

import java.util.List;

/**
 * The contents of a journal when the shard started.
 *
 * @param segments the segments, the oldest first
 * @param lastPosition the position of the last record; 0 if there is none
 * @param records the number of records that were read
 * @param bytes the size of all segments
 * @param history the history of the shard; 0 if there is no segment
 */
record JournalContents(List<Segment> segments, long lastPosition, long records, long bytes, long history) {}
