/** Tests that the documentation matches the code: the generated reference, the commands, the links and the class names. */
package io.modeldisk.docs;
