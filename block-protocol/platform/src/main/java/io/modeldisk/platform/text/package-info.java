/** Text that comes from other processes and goes to people. */
package io.modeldisk.platform.text;
