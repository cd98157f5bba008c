/** The laws of membership. */
package io.modeldisk.fault.membership;
