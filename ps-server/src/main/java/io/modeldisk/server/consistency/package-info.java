/** What a push does and when a pull may return: one implementation a mode. All of LUN 0, and only that, goes through here. */
package io.modeldisk.server.consistency;
