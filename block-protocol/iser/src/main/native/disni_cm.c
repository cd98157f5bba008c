/* The connection manager: event channels, identifiers, connections (librdmacm). */
#include "disni.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

DISPATCHER(jlong, createEventChannel)(JNIEnv *env, jobject self) {
    (void) self;
    struct event_channel *channel = calloc(1, sizeof *channel);
    if (channel == NULL) {
        disni_throw(env, ENOMEM, "calloc failed for an event channel");
        return -1;
    }
    channel->cm = rdma_create_event_channel();
    if (channel->cm == NULL) {
        int error = errno;
        free(channel);
        disni_throw(env, error, "rdma_create_event_channel failed");
        return -1;
    }
    /*
     * The reader waits in poll with a timeout. The descriptor is not blocking, so the read after poll cannot block if the event
     * is gone.
     */
    int flags = fcntl(channel->cm->fd, F_GETFL);
    if (flags < 0 || fcntl(channel->cm->fd, F_SETFL, flags | O_NONBLOCK) != 0) {
        int error = errno;
        rdma_destroy_event_channel(channel->cm);
        free(channel);
        disni_throw(env, error, "fcntl failed for an event channel");
        return -1;
    }
    return disni_handle(channel);
}

DISPATCHER(jint, destroyEventChannel)(JNIEnv *env, jobject self, jlong handle) {
    (void) env;
    (void) self;
    struct event_channel *channel = disni_pointer(handle);
    rdma_destroy_event_channel(channel->cm);
    free(channel);
    return 0;
}

DISPATCHER(jlong, createId)(JNIEnv *env, jobject self, jlong channel_handle, jshort port_space) {
    (void) self;
    struct event_channel *channel = disni_pointer(channel_handle);
    struct rdma_cm_id *id;
    if (disni_check(env, rdma_create_id(channel->cm, &id, NULL, (enum rdma_port_space) port_space), "rdma_create_id") != 0) {
        return -1;
    }
    return disni_handle(id);
}

DISPATCHER(jint, destroyCmId)(JNIEnv *env, jobject self, jlong id) {
    (void) self;
    return disni_check(env, rdma_destroy_id(disni_pointer(id)), "rdma_destroy_id");
}

DISPATCHER(jint, destroyEp)(JNIEnv *env, jobject self, jlong id) {
    (void) env;
    (void) self;
    rdma_destroy_ep(disni_pointer(id));
    return 0;
}

/* DiSNI sets the family, the port and the address, but does not clear the rest of the structure. */
static struct sockaddr_in clean(jlong address) {
    const struct sockaddr_in *given = disni_pointer(address);
    struct sockaddr_in result = {
        .sin_family = given->sin_family, .sin_port = given->sin_port, .sin_addr = given->sin_addr};
    return result;
}

DISPATCHER(void, bindAddr)(JNIEnv *env, jobject self, jlong id, jlong address) {
    (void) self;
    struct sockaddr_in local = clean(address);
    disni_check(env, rdma_bind_addr(disni_pointer(id), (struct sockaddr *) &local), "rdma_bind_addr");
}

DISPATCHER(void, listen)(JNIEnv *env, jobject self, jlong id, jint backlog) {
    (void) self;
    disni_check(env, rdma_listen(disni_pointer(id), backlog), "rdma_listen");
}

DISPATCHER(void, resolveAddr)
(JNIEnv *env, jobject self, jlong id, jlong source, jlong destination, jint timeout_millis) {
    (void) self;
    struct sockaddr_in remote = clean(destination);
    struct sockaddr_in local;
    if (source != 0) {
        local = clean(source);
    }
    int result = rdma_resolve_addr(disni_pointer(id), source == 0 ? NULL : (struct sockaddr *) &local,
        (struct sockaddr *) &remote, timeout_millis);
    disni_check(env, result, "rdma_resolve_addr");
}

DISPATCHER(void, resolveRoute)(JNIEnv *env, jobject self, jlong id, jint timeout_millis) {
    (void) self;
    disni_check(env, rdma_resolve_route(disni_pointer(id), timeout_millis), "rdma_resolve_route");
}

/*
 * Waits for an event. The wait has no limit if timeout_millis is negative. Returns the type of the event, or -1 if no
 * event arrived. The event is acknowledged at once, because DiSNI's acknowledgement does not name an event. The fields
 * that modeldisk needs are copied before the acknowledgement.
 */
DISPATCHER(jint, getCmEvent)
(JNIEnv *env, jobject self, jlong channel_handle, jlong listen_id, jlong client_id, jint timeout_millis) {
    (void) self;
    struct event_channel *channel = disni_pointer(channel_handle);
    struct pollfd ready = {.fd = channel->cm->fd, .events = POLLIN};
    int count = poll(&ready, 1, timeout_millis);
    if (count == 0 || (count < 0 && errno == EINTR)) {
        return -1;
    }
    if (count < 0) {
        disni_throw(env, errno, "poll failed for an event channel");
        return -1;
    }
    struct rdma_cm_event *event;
    if (rdma_get_cm_event(channel->cm, &event) != 0) {
        if (errno != EAGAIN && errno != EINTR) {
            disni_throw(env, errno, "rdma_get_cm_event failed");
        }
        return -1;
    }
    int64_t listener = disni_handle(event->listen_id);
    int64_t client = disni_handle(event->id);
    memcpy(disni_pointer(listen_id), &listener, sizeof listener);
    memcpy(disni_pointer(client_id), &client, sizeof client);
    channel->status = event->status;
    channel->private_data_bytes = event->param.conn.private_data == NULL ? 0 : event->param.conn.private_data_len;
    if (channel->private_data_bytes > 0) {
        memcpy(channel->private_data, event->param.conn.private_data, channel->private_data_bytes);
    }
    int type = (int) event->event;
    rdma_ack_cm_event(event);
    return type;
}

/* Does nothing, because getCmEvent has acknowledged the event. */
DISPATCHER(jint, ackCmEvent)(JNIEnv *env, jobject self, jint event) {
    (void) env;
    (void) self;
    (void) event;
    return 0;
}

DISPATCHER(jlong, createQP)
(JNIEnv *env, jobject self, jlong id_handle, jlong pd, jlong send_cq, jlong recv_cq, jint type, jint max_send_wr,
    jint max_recv_wr, jint max_inline) {
    (void) self;
    struct rdma_cm_id *id = disni_pointer(id_handle);
    struct ibv_device_attr device;
    int error = id->verbs == NULL ? ENODEV : ibv_query_device(id->verbs, &device);
    if (error != 0) {
        disni_throw(env, error, "ibv_query_device failed");
        return -1;
    }
    uint32_t sge = device.max_sge < MAX_SGE ? (uint32_t) device.max_sge : MAX_SGE;
    struct ibv_qp_init_attr attributes = {
        .send_cq = disni_pointer(send_cq),
        .recv_cq = disni_pointer(recv_cq),
        .qp_type = (enum ibv_qp_type) type,
        .cap = {.max_send_wr = (uint32_t) max_send_wr,
            .max_recv_wr = (uint32_t) max_recv_wr,
            .max_send_sge = sge,
            .max_recv_sge = sge,
            .max_inline_data = (uint32_t) max_inline},
    };
    if (rdma_create_qp(id, disni_pointer(pd), &attributes) != 0) {
        disni_throw(env, errno,
            "the device %s supports %d queue pairs with %d requests each; rdma_create_qp failed for %d send requests, %d receive "
            "requests and %d inline bytes",
            ibv_get_device_name(id->verbs->device), device.max_qp, device.max_qp_wr, max_send_wr, max_recv_wr, max_inline);
        return -1;
    }
    return disni_handle(id->qp);
}

DISPATCHER(jint, destroyQP)(JNIEnv *env, jobject self, jlong id) {
    (void) env;
    (void) self;
    rdma_destroy_qp(disni_pointer(id));
    return 0;
}

/* Returns parameters that allow the maximum number of RDMA READs in flight that the device and the peer support. */
static struct rdma_conn_param parameters(const void *data, uint8_t bytes, int retry_count, int rnr_retry_count) {
    struct rdma_conn_param result = {
        .private_data = bytes == 0 ? NULL : data,
        .private_data_len = bytes,
        .responder_resources = RDMA_MAX_RESP_RES,
        .initiator_depth = RDMA_MAX_INIT_DEPTH,
        .retry_count = (uint8_t) retry_count,
        .rnr_retry_count = (uint8_t) rnr_retry_count,
    };
    return result;
}

DISPATCHER(void, connect)
(JNIEnv *env, jobject self, jlong id, jint retry_count, jint rnr_retry_count, jlong data, jbyte bytes) {
    (void) self;
    struct rdma_conn_param wanted = parameters(disni_pointer(data), (uint8_t) bytes, retry_count, rnr_retry_count);
    disni_check(env, rdma_connect(disni_pointer(id), &wanted), "rdma_connect");
}

DISPATCHER(void, accept)(JNIEnv *env, jobject self, jlong id, jint retry_count, jint rnr_retry_count) {
    (void) self;
    struct rdma_conn_param wanted = parameters(NULL, 0, retry_count, rnr_retry_count);
    disni_check(env, rdma_accept(disni_pointer(id), &wanted), "rdma_accept");
}

DISPATCHER(jint, disconnect)(JNIEnv *env, jobject self, jlong id) {
    (void) self;
    return disni_check(env, rdma_disconnect(disni_pointer(id)), "rdma_disconnect");
}

/* Copies an IPv4 address. Returns -1 for any other address family, because DiSNI supports only IPv4. */
static jint copy_address(const struct sockaddr *from, jlong to) {
    if (from == NULL || from->sa_family != AF_INET) {
        return -1;
    }
    memcpy(disni_pointer(to), from, sizeof(struct sockaddr_in));
    return 0;
}

DISPATCHER(jint, getSrcAddr)(JNIEnv *env, jobject self, jlong id, jlong address) {
    (void) env;
    (void) self;
    return copy_address(rdma_get_local_addr(disni_pointer(id)), address);
}

DISPATCHER(jint, getDstAddr)(JNIEnv *env, jobject self, jlong id, jlong address) {
    (void) env;
    (void) self;
    return copy_address(rdma_get_peer_addr(disni_pointer(id)), address);
}

DISPATCHER(jlong, getContext)(JNIEnv *env, jobject self, jlong id) {
    (void) self;
    struct ibv_context *context = ((struct rdma_cm_id *) disni_pointer(id))->verbs;
    if (context == NULL) {
        disni_throw(env, 0, "the identifier has no RDMA device yet; resolve its address, or bind it to the address of an "
                            "RDMA device");
        return -1;
    }
    return disni_handle(context);
}

/* Functions that DiSNI lacks. Java calls them through its foreign-function API, not as native methods. */

/* Copies the status and the private data of the last event of a channel. Returns the length of the private data in bytes. */
__attribute__((visibility("default"))) int modeldisk_rdma_last_event(int64_t handle, int32_t *status, uint8_t *data) {
    const struct event_channel *channel = disni_pointer(handle);
    *status = channel->status;
    memcpy(data, channel->private_data, channel->private_data_bytes);
    return channel->private_data_bytes;
}

/* Accepts a connection with private data. Returns 0, or an errno after a failure. */
__attribute__((visibility("default"))) int modeldisk_rdma_accept(
    int64_t id, const uint8_t *data, int bytes, int retry_count, int rnr_retry_count) {
    struct rdma_conn_param wanted = parameters(data, (uint8_t) bytes, retry_count, rnr_retry_count);
    return rdma_accept(disni_pointer(id), &wanted) == 0 ? 0 : errno;
}

/* Returns whether the device of an identifier can send a message that invalidates a memory key of the peer. */
__attribute__((visibility("default"))) int modeldisk_rdma_can_invalidate(int64_t handle) {
    const struct rdma_cm_id *id = disni_pointer(handle);
    struct ibv_device_attr attributes;
    return id->verbs != NULL && ibv_query_device(id->verbs, &attributes) == 0
        && (attributes.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS) != 0;
}

/* Writes the name of an identifier's device. The name and its terminating zero take at most the given number of bytes. */
__attribute__((visibility("default"))) void modeldisk_rdma_device_name(int64_t handle, char *name, int bytes) {
    const struct rdma_cm_id *id = disni_pointer(handle);
    strncpy(name, id->verbs == NULL ? "" : ibv_get_device_name(id->verbs->device), (size_t) bytes - 1);
    name[bytes - 1] = '\0';
}
