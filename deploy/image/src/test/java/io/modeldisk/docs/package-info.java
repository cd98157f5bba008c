/** The documentation says what the code says: the generated reference, the commands shown, the links, the classes named. */
package io.modeldisk.docs;
