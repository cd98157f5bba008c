/*
 * Common to the parts of libdisni: an error of the verbs becomes a Java exception with the text of its errno.
 *
 * libdisni implements the native methods that the classes of DiSNI 2.1 declare. DiSNI hands out the numbers that these methods
 * return as opaque handles; here they are addresses of the objects of the verbs.
 */
#ifndef MODELDISK_DISNI_H
#define MODELDISK_DISNI_H

#include <infiniband/verbs.h>
#include <jni.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>

/* The interface version that DiSNI 2.1's classes ask for. */
#define DISNI_VERSION 32

/* The most private data that the connection manager of any transport carries. */
#define MAX_PRIVATE_DATA 255

/* The most memory ranges of one work request; a device may support fewer. */
#define MAX_SGE 8

/* A method of com.ibm.disni.verbs.impl.NativeDispatcher. */
#define DISPATCHER(type, name) JNIEXPORT type JNICALL Java_com_ibm_disni_verbs_impl_NativeDispatcher__1##name

/* An event channel, and the details of its last event that DiSNI lacks. One thread reads a channel. */
struct event_channel {
    struct rdma_event_channel *cm;
    int status;
    uint8_t private_data_bytes;
    uint8_t private_data[MAX_PRIVATE_DATA];
};

/* Throws an IOException: what was tried, and if error is not 0 its text and number. */
void disni_throw(JNIEnv *env, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

static inline void *disni_pointer(jlong handle) {
    return (void *) (uintptr_t) handle;
}

static inline jlong disni_handle(const void *pointer) {
    return (jlong) (uintptr_t) pointer;
}

/* The answer of a call that returns -1 and sets errno: 0, or an exception. */
int disni_check(JNIEnv *env, int result, const char *what);

#endif
