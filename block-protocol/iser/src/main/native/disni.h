/*
 * What the parts of libdisni share: how an error of the verbs becomes a Java exception with its errno in words.
 *
 * libdisni implements the native methods that the classes of DiSNI 2.1 declare. DiSNI hands out the numbers that these methods
 * return as opaque handles; here they are addresses of the verbs' own objects.
 */
#ifndef MODELDISK_DISNI_H
#define MODELDISK_DISNI_H

#include <infiniband/verbs.h>
#include <jni.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>

/* The interface version that DiSNI 2.1's classes ask for. */
#define DISNI_VERSION 32

/* As much private data as any transport's connection manager carries. */
#define MAX_PRIVATE_DATA 255

/* How many parts of memory one work request names; a device may take fewer. */
#define MAX_SGE 8

/* A method of com.ibm.disni.verbs.impl.NativeDispatcher. */
#define DISPATCHER(type, name) JNIEXPORT type JNICALL Java_com_ibm_disni_verbs_impl_NativeDispatcher__1##name

/* An event channel, and what DiSNI's events leave out of the last one that came from it. One thread reads a channel. */
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
