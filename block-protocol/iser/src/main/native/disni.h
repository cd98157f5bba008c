/*
 * Declarations for all parts of libdisni. If a call to the verbs fails, libdisni throws a Java exception with the text of the
 * errno.
 *
 * libdisni implements the native methods that the classes of DiSNI 2.1 declare. DiSNI treats the numbers that these methods
 * return as opaque handles. In libdisni, each number is the address of a verbs object.
 */
#ifndef MODELDISK_DISNI_H
#define MODELDISK_DISNI_H

#include <infiniband/verbs.h>
#include <jni.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>

/* The interface version that the classes of DiSNI 2.1 require. */
#define DISNI_VERSION 32

/* The maximum number of bytes of private data over any transport of the connection manager. */
#define MAX_PRIVATE_DATA 255

/* The maximum number of memory ranges in a work request. Some devices support fewer. */
#define MAX_SGE 8

/* Declares a native method of com.ibm.disni.verbs.impl.NativeDispatcher. */
#define DISPATCHER(type, name) JNIEXPORT type JNICALL Java_com_ibm_disni_verbs_impl_NativeDispatcher__1##name

/* An event channel, and details of its last event that DiSNI does not provide. Only one thread reads a channel. */
struct event_channel {
    struct rdma_event_channel *cm;
    int status;
    uint8_t private_data_bytes;
    uint8_t private_data[MAX_PRIVATE_DATA];
};

/* Throws an IOException with this message. If error is not 0, the text and the number of this errno follow the message. */
void disni_throw(JNIEnv *env, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

static inline void *disni_pointer(jlong handle) {
    return (void *) (uintptr_t) handle;
}

static inline jlong disni_handle(const void *pointer) {
    return (jlong) (uintptr_t) pointer;
}

/* Checks a call that returns -1 and sets errno if it fails. Throws an exception after a failure, and returns 0 otherwise. */
int disni_check(JNIEnv *env, int result, const char *what);

#endif
