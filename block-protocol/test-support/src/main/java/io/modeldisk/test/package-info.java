/** What tests of several modules share: bounded waiting, a clock that the test sets, network paths that fail. */
package io.modeldisk.test;
