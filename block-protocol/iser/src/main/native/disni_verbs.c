/* The verbs: protection domains, memory regions, completion queues, work requests (libibverbs). */
#define _GNU_SOURCE
#include "disni.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

DISPATCHER(jlong, allocPd)(JNIEnv *env, jobject self, jlong context) {
    (void) self;
    struct ibv_pd *pd = ibv_alloc_pd(disni_pointer(context));
    if (pd == NULL) {
        disni_throw(env, errno, "ibv_alloc_pd failed");
        return -1;
    }
    return disni_handle(pd);
}

/* Throws an exception if a call returned an errno. Returns the errno. */
static jint check_errno(JNIEnv *env, int error, const char *what) {
    if (error != 0) {
        disni_throw(env, error, "%s failed", what);
    }
    return error;
}

DISPATCHER(jint, deallocPd)(JNIEnv *env, jobject self, jlong pd) {
    (void) self;
    return check_errno(env, ibv_dealloc_pd(disni_pointer(pd)), "ibv_dealloc_pd");
}

DISPATCHER(jint, getPdHandle)(JNIEnv *env, jobject self, jlong pd) {
    (void) env;
    (void) self;
    return (jint) ((struct ibv_pd *) disni_pointer(pd))->handle;
}

DISPATCHER(jint, getContextFd)(JNIEnv *env, jobject self, jlong context) {
    (void) env;
    (void) self;
    return ((struct ibv_context *) disni_pointer(context))->cmd_fd;
}

DISPATCHER(jint, getContextNumCompVectors)(JNIEnv *env, jobject self, jlong context) {
    (void) env;
    (void) self;
    return ((struct ibv_context *) disni_pointer(context))->num_comp_vectors;
}

DISPATCHER(jlong, createCompChannel)(JNIEnv *env, jobject self, jlong context) {
    (void) self;
    struct ibv_comp_channel *channel = ibv_create_comp_channel(disni_pointer(context));
    if (channel == NULL) {
        disni_throw(env, errno, "ibv_create_comp_channel failed");
        return -1;
    }
    int flags = fcntl(channel->fd, F_GETFL);
    if (flags < 0 || fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) != 0) {
        int error = errno;
        ibv_destroy_comp_channel(channel);
        disni_throw(env, error, "fcntl failed for a completion channel");
        return -1;
    }
    return disni_handle(channel);
}

DISPATCHER(jint, destroyCompChannel)(JNIEnv *env, jobject self, jlong channel) {
    (void) self;
    return check_errno(env, ibv_destroy_comp_channel(disni_pointer(channel)), "ibv_destroy_comp_channel");
}

DISPATCHER(jlong, createCQ)(JNIEnv *env, jobject self, jlong context, jlong channel, jint entries, jint vector) {
    (void) self;
    struct ibv_cq *cq = ibv_create_cq(disni_pointer(context), entries, NULL, disni_pointer(channel), vector);
    if (cq == NULL) {
        disni_throw(env, errno, "ibv_create_cq failed for %d entries on completion vector %d", entries, vector);
        return -1;
    }
    return disni_handle(cq);
}

DISPATCHER(jint, destroyCQ)(JNIEnv *env, jobject self, jlong cq) {
    (void) self;
    return check_errno(env, ibv_destroy_cq(disni_pointer(cq)), "ibv_destroy_cq");
}

/* Waits for a completion event, without limit if timeout_millis is negative. Returns 0, or -1 if no event arrived. */
DISPATCHER(jint, getCqEvent)(JNIEnv *env, jobject self, jlong channel_handle, jint timeout_millis) {
    (void) self;
    struct ibv_comp_channel *channel = disni_pointer(channel_handle);
    struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
    int count = poll(&ready, 1, timeout_millis);
    if (count < 0 && errno != EINTR) {
        disni_throw(env, errno, "poll failed for a completion channel");
    }
    if (count <= 0) {
        return -1;
    }
    struct ibv_cq *cq;
    void *cq_context;
    if (ibv_get_cq_event(channel, &cq, &cq_context) != 0) {
        if (errno != EAGAIN && errno != EINTR) {
            disni_throw(env, errno, "ibv_get_cq_event failed");
        }
        return -1;
    }
    return 0;
}

DISPATCHER(jint, ackCqEvent)(JNIEnv *env, jobject self, jlong cq, jint events) {
    (void) env;
    (void) self;
    ibv_ack_cq_events(disni_pointer(cq), (unsigned int) events);
    return 0;
}

DISPATCHER(jint, reqNotifyCQ)(JNIEnv *env, jobject self, jlong cq, jint solicited_only) {
    (void) self;
    return check_errno(env, ibv_req_notify_cq(disni_pointer(cq), solicited_only), "ibv_req_notify_cq");
}

DISPATCHER(jint, pollCQ)(JNIEnv *env, jobject self, jlong cq, jint entries, jlong completions) {
    (void) self;
    int count = ibv_poll_cq(disni_pointer(cq), entries, disni_pointer(completions));
    if (count < 0) {
        disni_throw(env, 0, "ibv_poll_cq failed with %d; the completion queue may have overrun", count);
    }
    return count;
}

DISPATCHER(jlong, regMr)
(JNIEnv *env, jobject self, jlong pd, jlong address, jint length, jint access, jlong lkey, jlong rkey, jlong handle) {
    (void) self;
    struct ibv_mr *mr = ibv_reg_mr(disni_pointer(pd), disni_pointer(address), (size_t) length, access);
    if (mr == NULL) {
        int error = errno;
        struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
        getrlimit(RLIMIT_MEMLOCK, &limit);
        if (limit.rlim_cur == RLIM_INFINITY) {
            disni_throw(env, error, "ibv_reg_mr failed for %d bytes", length);
        } else {
            disni_throw(env, error,
                "this process can lock only %llu bytes (raise the limit with `ulimit -l unlimited`, or with LimitMEMLOCK=infinity in "
                "the systemd unit); ibv_reg_mr failed for %d bytes",
                (unsigned long long) limit.rlim_cur, length);
        }
        return -1;
    }
    *(uint32_t *) disni_pointer(lkey) = mr->lkey;
    *(uint32_t *) disni_pointer(rkey) = mr->rkey;
    *(uint32_t *) disni_pointer(handle) = mr->handle;
    return disni_handle(mr);
}

/* libibverbs before version 34 does not have this function. */
extern struct ibv_mr *ibv_reg_dmabuf_mr(
    struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access) __attribute__((weak));

/*
 * Registers the first bytes of a dma-buf. Returns the memory region, and writes its lkey, rkey and handle to keys. After a
 * failure, returns 0 and writes a zero-terminated message.
 */
__attribute__((visibility("default"))) int64_t modeldisk_rdma_register_dma_buf(
    int64_t pd, int descriptor, int64_t address, int bytes, int access, uint32_t *keys, char *message, int message_bytes) {
    if (ibv_reg_dmabuf_mr == NULL) {
        snprintf(message, (size_t) message_bytes, "libibverbs is older than version 34");
        return 0;
    }
    struct ibv_mr *mr = ibv_reg_dmabuf_mr(disni_pointer(pd), 0, (size_t) bytes, (uint64_t) address, descriptor, access);
    if (mr == NULL) {
        int error = errno;
        char text[128];
        snprintf(message, (size_t) message_bytes, "ibv_reg_dmabuf_mr failed for %d bytes: %s (errno %d)", bytes,
            strerror_r(error, text, sizeof text), error);
        return 0;
    }
    keys[0] = mr->lkey;
    keys[1] = mr->rkey;
    keys[2] = mr->handle;
    return disni_handle(mr);
}

DISPATCHER(void, deregMr)(JNIEnv *env, jobject self, jlong mr) {
    (void) self;
    check_errno(env, ibv_dereg_mr(disni_pointer(mr)), "ibv_dereg_mr");
}

/* Returns the on-demand paging features of the device for reliable connections. DiSNI uses the same bits as the verbs. */
DISPATCHER(jint, queryOdpSupport)(JNIEnv *env, jobject self, jlong context) {
    (void) env;
    (void) self;
    struct ibv_device_attr_ex attributes;
    if (ibv_query_device_ex(disni_pointer(context), NULL, &attributes) != 0) {
        return 0;
    }
    return attributes.odp_caps.general_caps & IBV_ODP_SUPPORT ? (jint) attributes.odp_caps.per_transport_caps.rc_odp_caps : 0;
}

DISPATCHER(jint, expPrefetchMr)(JNIEnv *env, jobject self, jlong handle, jlong address, jint length) {
    (void) self;
    struct ibv_mr *mr = disni_pointer(handle);
    struct ibv_sge range = {.addr = (uint64_t) address, .length = (uint32_t) length, .lkey = mr->lkey};
    return check_errno(
        env, ibv_advise_mr(mr->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, &range, 1), "ibv_advise_mr");
}

/* The number of requests at the start of a chain that the device accepted before it refused the request bad. */
#define ACCEPTED(first, bad) \
    ({ \
        int before = 0; \
        for (__auto_type request = (first); request != NULL && request != (bad); request = request->next) { \
            before++; \
        } \
        before; \
    })

DISPATCHER(void, postSend)(JNIEnv *env, jobject self, jlong qp, jlong requests) {
    (void) self;
    struct ibv_send_wr *first = disni_pointer(requests);
    struct ibv_send_wr *bad = NULL;
    for (struct ibv_send_wr *request = first; request != NULL; request = request->next) {
        /*
         * DiSNI has no field for the memory key that a SEND invalidates. Its callers set the key in the remote key of RDMA
         * requests.
         */
        if (request->opcode == IBV_WR_SEND_WITH_INV) {
            request->invalidate_rkey = request->wr.rdma.rkey;
        }
    }
    int error = ibv_post_send(disni_pointer(qp), first, &bad);
    if (error != 0) {
        disni_throw(env, error, "ibv_post_send refused a request after %d accepted requests", ACCEPTED(first, bad));
    }
}

DISPATCHER(void, postRecv)(JNIEnv *env, jobject self, jlong qp, jlong requests) {
    (void) self;
    struct ibv_recv_wr *first = disni_pointer(requests);
    struct ibv_recv_wr *bad = NULL;
    int error = ibv_post_recv(disni_pointer(qp), first, &bad);
    if (error != 0) {
        disni_throw(env, error, "ibv_post_recv refused a request after %d accepted requests", ACCEPTED(first, bad));
    }
}

DISPATCHER(jint, getQpNum)(JNIEnv *env, jobject self, jlong qp) {
    (void) env;
    (void) self;
    return (jint) ((struct ibv_qp *) disni_pointer(qp))->qp_num;
}

/* Throws an exception. DiSNI calls this function without attributes, so there is no state to set. */
DISPATCHER(jint, modifyQP)(JNIEnv *env, jobject self, jlong qp, jlong attributes) {
    (void) self;
    (void) qp;
    (void) attributes;
    disni_throw(env, ENOTSUP, "modifyQP is not supported, because the connection manager changes the state of a queue pair");
    return -1;
}
