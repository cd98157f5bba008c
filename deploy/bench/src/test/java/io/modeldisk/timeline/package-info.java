/** Tests of the pictures of iterations. */
package io.modeldisk.timeline;
