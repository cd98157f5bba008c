/* Version, structure layouts, processor affinity and errors of libdisni. */
#define _GNU_SOURCE
#include "disni.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* DiSNI's classes write the fields of these structures at fixed offsets, so the layout is part of DiSNI's interface. */
_Static_assert(sizeof(struct ibv_wc) == 48, "IbvWC");
_Static_assert(offsetof(struct ibv_wc, wc_flags) == 36, "IbvWC.wc_flags");
_Static_assert(offsetof(struct ibv_wc, pkey_index) == 40, "IbvWC.pkey_index");
_Static_assert(sizeof(struct ibv_sge) == 16, "IbvSge");
_Static_assert(sizeof(struct ibv_recv_wr) == 32, "IbvRecvWR");
_Static_assert(offsetof(struct ibv_send_wr, sg_list) == 16, "IbvSendWR.sg_list");
_Static_assert(offsetof(struct ibv_send_wr, num_sge) == 24, "IbvSendWR.num_sge");
_Static_assert(offsetof(struct ibv_send_wr, opcode) == 28, "IbvSendWR.opcode");
_Static_assert(offsetof(struct ibv_send_wr, send_flags) == 32, "IbvSendWR.send_flags");
_Static_assert(offsetof(struct ibv_send_wr, imm_data) == 36, "IbvSendWR.imm_data");
_Static_assert(sizeof(void *) == 8, "addresses of 64 bits");

void disni_throw(JNIEnv *env, int error, const char *format, ...) {
    if ((*env)->ExceptionCheck(env)) {
        return;
    }
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (error != 0 && length >= 0 && (size_t) length < sizeof message) {
        char text[128];
        snprintf(message + length, sizeof message - (size_t) length, ": %s (errno %d)",
            strerror_r(error, text, sizeof text), error);
    }
    jclass type = (*env)->FindClass(env, "java/io/IOException");
    if (type != NULL) {
        (*env)->ThrowNew(env, type, message);
    }
}

int disni_check(JNIEnv *env, int result, const char *what) {
    if (result != 0) {
        disni_throw(env, errno, "%s failed", what);
    }
    return result;
}

/*
 * A library with global symbols and a function of this name counts as linked into the Java launcher (JEP 178), so
 * System.loadLibrary("disni"), which DiSNI calls, finds the library at any path.
 */
JNIEXPORT jint JNICALL JNI_OnLoad_disni(JavaVM *vm, void *reserved) {
    (void) vm;
    (void) reserved;
    return JNI_VERSION_1_8;
}

DISPATCHER(jint, getVersion)(JNIEnv *env, jobject self) {
    (void) env;
    (void) self;
    return DISNI_VERSION;
}

DISPATCHER(jint, getSockAddrInSize)(JNIEnv *env, jobject self) {
    (void) env;
    (void) self;
    return sizeof(struct sockaddr_in);
}

DISPATCHER(jint, getIbvRecvWRSize)(JNIEnv *env, jobject self) {
    (void) env;
    (void) self;
    return sizeof(struct ibv_recv_wr);
}

DISPATCHER(jint, getIbvSendWRSize)(JNIEnv *env, jobject self) {
    (void) env;
    (void) self;
    return sizeof(struct ibv_send_wr);
}

DISPATCHER(jint, getIbvSgeSize)(JNIEnv *env, jobject self) {
    (void) env;
    (void) self;
    return sizeof(struct ibv_sge);
}

DISPATCHER(jint, getIbvWCSize)(JNIEnv *env, jobject self) {
    (void) env;
    (void) self;
    return sizeof(struct ibv_wc);
}

DISPATCHER(jint, getRemoteAddressOffset)(JNIEnv *env, jobject self) {
    (void) env;
    (void) self;
    return offsetof(struct ibv_send_wr, wr.rdma.remote_addr);
}

DISPATCHER(jint, getRKeyOffset)(JNIEnv *env, jobject self) {
    (void) env;
    (void) self;
    return offsetof(struct ibv_send_wr, wr.rdma.rkey);
}

/* Sets the processors on which the calling thread may run. Bit N of the mask stands for processor N. */
JNIEXPORT void JNICALL Java_com_ibm_disni_util_NativeAffinity__1setAffinity(JNIEnv *env, jclass type, jlong mask) {
    (void) type;
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < 64; i++) {
        if ((uint64_t) mask >> i & 1) {
            CPU_SET(i, &set);
        }
    }
    disni_check(env, sched_setaffinity(0, sizeof set, &set), "sched_setaffinity");
}

JNIEXPORT jlong JNICALL Java_com_ibm_disni_util_NativeAffinity__1getAffinity(JNIEnv *env, jclass type) {
    (void) type;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (disni_check(env, sched_getaffinity(0, sizeof set, &set), "sched_getaffinity") != 0) {
        return 0;
    }
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++) {
        mask |= (uint64_t) (CPU_ISSET(i, &set) != 0) << i;
    }
    return (jlong) mask;
}
