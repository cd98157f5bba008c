/** Tests of the membership of learners. */
package io.modeldisk.fault.membership;
