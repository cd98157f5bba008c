/** The laws of its counterpart. */
package io.modeldisk.server.model;
