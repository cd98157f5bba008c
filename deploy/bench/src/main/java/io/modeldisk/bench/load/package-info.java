/** What a benchmark moves, and who moves it: the same loads for the protocol and for the baseline beside it. Measures nothing. */
package io.modeldisk.bench.load;
