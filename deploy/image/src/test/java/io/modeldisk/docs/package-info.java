/** Tests that the documentation matches the code: the generated reference, the commands, the links and the names of classes. */
package io.modeldisk.docs;
