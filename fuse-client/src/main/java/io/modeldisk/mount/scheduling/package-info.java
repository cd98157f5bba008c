/** When to pull: predictions from what was measured. Pure arithmetic on an injected clock; no thread, no model, no file here. */
package io.modeldisk.mount.scheduling;
