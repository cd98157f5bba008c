/*
 * A replacement of NVIDIA's driver libcuda.so.1 for tests. It has the driver functions that modeldisk calls, and emulates the
 * devices.
 *
 * The host cannot access device memory, because its addresses are mapped without rights. The addresses of freed memory are never
 * reused. With EMULATED_CUDA_GPUDIRECT, an RDMA device can reach memory with the attribute SYNC_MEMOPS: see share(). Streams do
 * their work only during calls that check for results. A seed chooses the order of the work among the orders that streams and
 * events allow. A copy reads its source only when the copy runs. As on a real device, an error of a kernel makes the context
 * unusable.
 *
 * The tests call the functions emulator_..., which set up the devices, make calls fail, and count objects.
 */
#define _GNU_SOURCE
#include "ptx.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201, INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801
};

static const uint64_t ADDRESSES = 1ull << 36;
static const uint64_t GUARD = 1 << 16;

enum kind { CONTEXT, DEVICE, HOST, REGISTERED, STREAM, EVENT, MODULE };

/*
 * An object of the driver. A freed object stays in memory until the next emulator_reset(), so a use after the free is detected.
 */
struct object {
    struct object *next;
    enum kind kind;
    int live;
    uint64_t address, bytes;
    unsigned char *memory;
    /*
     * The bytes that RDMA devices have written, and their file. NULL if RDMA devices cannot reach the memory. Kernels see these
     * bytes after a flush.
     */
    unsigned char *arrivals;
    int file;
    struct ptx_module *module;
    uint64_t recorded, completed;
    struct work *first, *last;
};

enum work_kind { COPY_TO_DEVICE, COPY_TO_HOST, COPY_ON_DEVICE, FILL, LAUNCH, RECORD, WAIT };

struct work {
    struct work *next;
    enum work_kind kind;
    uint64_t device, source, bytes, generation;
    unsigned char *host;
    unsigned char value;
    struct object *event;
    const struct ptx_entry *entry;
    unsigned grid[3];
    uint64_t parameters[PTX_MAX_PARAMETERS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;
/* The most recently used device memory objects, so a search rarely visits all objects. */
static struct object *recent[4];
static __thread struct object *current;
static int initialized, broken, devices = 1, driver_version = 12060, major = 7, minor, leaked;
/*
 * Whether RDMA devices can reach device memory by its addresses (peer memory) or by a dma-buf, and the ordering attribute of
 * their writes.
 */
static int peer_memory, dma_buf, ordering;
/* Not 0 while the device hangs and does no work. */
static int hanging;
static int calls, failing_call, failing_error, permanent;
static char failed_call[64], message[PTX_MESSAGE_BYTES];
static uint64_t total_bytes = 256 << 20, used_bytes, seed = 1, base, next_address;

static struct object *find_range(enum kind kind, enum kind other, uint64_t address, uint64_t bytes);

static uint64_t random_below(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed >> 11) % n;
}

static void drop_work(struct object *stream)
{
    while (stream->first) {
        struct work *work = stream->first;
        stream->first = work->next;
        free(work);
    }
    stream->last = NULL;
}

/* Returns the total size of the pages that contain an object. */
static uint64_t whole_pages(const struct object *object)
{
    return (object->address % 4096 + object->bytes + 4095) / 4096 * 4096;
}

/* Removes the host's access to the addresses of device memory. Pages that an RDMA device has pinned stay in memory. */
static void fence(struct object *object, int unmap)
{
    void *start = (void *) (object->address / 4096 * 4096);
    if (unmap) {
        mmap(start, whole_pages(object), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    } else {
        mprotect(start, whole_pages(object), PROT_NONE);
    }
}

static void release(struct object *object)
{
    object->live = 0;
    switch (object->kind) {
    case DEVICE:
        used_bytes -= object->bytes;
        free(object->memory);
        if (object->arrivals) {
            fence(object, 1);
            munmap(object->arrivals, whole_pages(object));
            close(object->file);
        }
        break;
    case HOST:
        free(object->memory);
        break;
    case MODULE:
        ptx_free(object->module);
        break;
    case STREAM:
        drop_work(object);
        break;
    default:
        break;
    }
}

/* Reads settings from environment variables, for processes whose tests cannot call the functions emulator_... */
__attribute__((constructor)) static void configure(void)
{
    const char *megabytes = getenv("EMULATED_CUDA_MEGABYTES");
    const char *start = getenv("EMULATED_CUDA_SEED");
    const char *lost = getenv("EMULATED_CUDA_LOST_AT_CALL");
    if (megabytes) {
        total_bytes = strtoull(megabytes, NULL, 10) << 20;
    }
    if (start) {
        seed = strtoull(start, NULL, 10) * 0x9e3779b97f4a7c15ull + 1;
    }
    const char *gpudirect = getenv("EMULATED_CUDA_GPUDIRECT");
    if (gpudirect) {
        peer_memory = strstr(gpudirect, "peer-memory") != NULL;
        dma_buf = strstr(gpudirect, "dma-buf") != NULL;
        ordering = strstr(gpudirect, "ordered") != NULL ? 100 : 0;
    }
    if (lost) {
        failing_call = atoi(lost);
        failing_error = LAUNCH_FAILED;
        permanent = 1;
    }
}

/* Discards all objects, and sets up devices as after the start of a machine. */
void emulator_reset(int new_devices, int version, int new_major, int new_minor, uint64_t new_total_bytes, uint64_t new_seed)
{
    pthread_mutex_lock(&lock);
    while (objects) {
        struct object *object = objects;
        objects = object->next;
        if (object->live) {
            release(object);
        }
        /* A context is not freed, because it might still be the current context of another thread. */
        if (object->kind != CONTEXT) {
            free(object);
        }
    }
    memset(recent, 0, sizeof recent);
    current = NULL;
    next_address = base;
    devices = new_devices;
    driver_version = version;
    major = new_major;
    minor = new_minor;
    total_bytes = new_total_bytes;
    seed = new_seed * 0x9e3779b97f4a7c15ull + 1;
    used_bytes = broken = leaked = calls = failing_call = 0;
    peer_memory = dma_buf = ordering = hanging = 0;
    failed_call[0] = message[0] = 0;
    pthread_mutex_unlock(&lock);
}

/* Makes call number n, counted from now on, fail. If always is not 0, all later calls fail too. */
void emulator_fail(int n, int error, int always)
{
    calls = 0;
    failing_call = n;
    failing_error = error;
    permanent = always;
    failed_call[0] = 0;
}

/* Sets how RDMA devices can reach memory, and whether kernels see their writes without a flush. */
void emulator_gpudirect(int by_address, int by_dma_buf, int ordered)
{
    peer_memory = by_address;
    dma_buf = by_dma_buf;
    ordering = ordered ? 100 : 0;
}

/* Writes to device memory as an RDMA device would. Returns 0 if RDMA devices cannot reach the memory. */
int emulator_arrive(uint64_t address, const unsigned char *data, uint64_t bytes)
{
    struct object *object;
    pthread_mutex_lock(&lock);
    object = find_range(DEVICE, DEVICE, address, bytes);
    if (object && object->arrivals) {
        memcpy(object->arrivals + object->address % 4096 + (address - object->address), data, bytes);
    }
    pthread_mutex_unlock(&lock);
    return object && object->arrivals;
}

int emulator_calls(void)
{
    return calls;
}

const char *emulator_failed_call(void)
{
    return failed_call;
}

const char *emulator_message(void)
{
    return message;
}

/* Returns the number of objects that were still open when their context was destroyed. */
int emulator_leaked(void)
{
    return leaked;
}

int emulator_live(void)
{
    int live = 0;
    for (struct object *object = objects; object; object = object->next) {
        live += object->live;
    }
    return live;
}

/* Begins a call to the driver. Returns 0, or the error with which the call must fail. */
static int begin(const char *name, int needs_context)
{
    pthread_mutex_lock(&lock);
    calls++;
    if (failing_call && (calls == failing_call || (permanent && calls > failing_call))) {
        if (!failed_call[0]) {
            snprintf(failed_call, sizeof failed_call, "%.*s", (int) strcspn(name, "_"), name);
        }
        return failing_error;
    }
    if (!initialized && strcmp(name, "cuInit") != 0) {
        return NOT_INITIALIZED;
    }
    if (needs_context && broken) {
        return broken;
    }
    return needs_context && !(current && current->live) ? INVALID_CONTEXT : SUCCESS;
}

static int end(int result)
{
    pthread_mutex_unlock(&lock);
    return result;
}

#define BEGIN(needs_context) \
    int result = begin(__func__, needs_context); \
    if (result) { \
        return end(result); \
    }

/* Begins a function that frees an object. Such a function frees the object even if it returns an error of earlier work. */
#define BEGIN_FREE(needs_context) int result = begin(__func__, needs_context)

static struct object *create(enum kind kind)
{
    struct object *object = calloc(1, sizeof *object);
    object->kind = kind;
    object->live = 1;
    object->next = objects;
    objects = object;
    return object;
}

static struct object *find(enum kind kind, const void *handle)
{
    for (struct object *object = objects; object; object = object->next) {
        if (object == handle && object->live && object->kind == kind) {
            return object;
        }
    }
    return NULL;
}

static struct object *find_range(enum kind kind, enum kind other, uint64_t address, uint64_t bytes)
{
    for (struct object *object = objects; object; object = object->next) {
        if (object->live && (object->kind == kind || object->kind == other) && address >= object->address
            && bytes <= object->bytes && address - object->address <= object->bytes - bytes) {
            return object;
        }
    }
    return NULL;
}

static unsigned char *device_memory(uint64_t address, uint64_t bytes)
{
    static unsigned turn;
    struct object *found;
    for (int i = 0; i < 4; i++) {
        found = recent[i];
        if (found && found->live && address >= found->address && address - found->address <= found->bytes
            && bytes <= found->bytes - (address - found->address)) {
            return found->memory + (address - found->address);
        }
    }
    found = find_range(DEVICE, DEVICE, address, bytes);
    if (!found) {
        return NULL;
    }
    recent[turn++ % 4] = found;
    return found->memory + (address - found->address);
}

static unsigned char *kernel_memory(uint64_t address, unsigned bytes)
{
    return device_memory(address, bytes);
}

static int complain(int error, const char *text)
{
    snprintf(message, sizeof message, "%s", text);
    return error;
}

/* Makes the bytes that RDMA devices have written visible to kernels. */
static void flush(void)
{
    for (struct object *object = objects; object; object = object->next) {
        if (object->live && object->kind == DEVICE && object->arrivals) {
            memcpy(object->memory, object->arrivals + object->address % 4096, object->bytes);
        }
    }
}

/* Runs the first piece of work in a stream. */
static void step(struct object *stream)
{
    struct work *work = stream->first;
    unsigned char *memory = work->kind <= FILL ? device_memory(work->device, work->bytes) : NULL;
    unsigned char *source = work->kind == COPY_ON_DEVICE ? device_memory(work->source, work->bytes) : memory;
    int error = SUCCESS;
    if (work->kind <= FILL && !(memory && source)) {
        error = complain(700, "a copy accesses memory outside of any allocation");
    } else if (work->kind <= COPY_TO_HOST && !find_range(HOST, REGISTERED, (uint64_t) work->host, work->bytes)) {
        error = complain(700, "pinned memory was freed before its copy ran");
    } else if (work->kind == COPY_TO_DEVICE) {
        memcpy(memory, work->host, work->bytes);
    } else if (work->kind == COPY_TO_HOST) {
        memcpy(work->host, memory, work->bytes);
    } else if (work->kind == COPY_ON_DEVICE) {
        memmove(memory, source, work->bytes);
    } else if (work->kind == FILL) {
        memset(memory, work->value, work->bytes);
    } else if (work->kind == LAUNCH) {
        if (ordering) {
            flush();
        }
        error = ptx_run(work->entry, work->parameters, work->grid, random_below(1 << 20), kernel_memory, message);
    } else if (work->kind == RECORD && work->generation > work->event->completed) {
        work->event->completed = work->generation;
    }
    stream->first = work->next;
    if (!stream->first) {
        stream->last = NULL;
    }
    free(work);
    if (error) {
        broken = error;
    }
}

/* Runs one piece of work from any stream. Returns 0 if no work can run. */
static int advance(void)
{
    struct object *chosen = NULL;
    uint64_t ready = 0;
    for (struct object *stream = objects; stream && !broken; stream = stream->next) {
        struct work *work = stream->first;
        if (stream->kind == STREAM && work && (work->kind != WAIT || work->event->completed >= work->generation)
            && random_below(++ready) == 0) {
            chosen = stream;
        }
    }
    if (chosen) {
        step(chosen);
    }
    return chosen != NULL;
}

static int finish_all(void)
{
    while (advance()) {
    }
    return broken;
}

/* Makes the device hang, or makes it work again. In the latter case, it completes all its work before this function returns. */
void emulator_hang(int hangs)
{
    pthread_mutex_lock(&lock);
    hanging = hangs;
    if (!hanging) {
        finish_all();
    }
    pthread_mutex_unlock(&lock);
}

static int add(struct object *stream, struct work work)
{
    struct work *added;
    if (!stream) {
        return complain(INVALID_HANDLE, "work cannot be added to the default stream or to a destroyed stream");
    }
    added = malloc(sizeof *added);
    *added = work;
    added->next = NULL;
    if (stream->last) {
        stream->last->next = added;
    } else {
        stream->first = added;
    }
    stream->last = added;
    return SUCCESS;
}

int cuInit(unsigned flags)
{
    BEGIN(0)
    initialized = 1;
    return end(flags ? INVALID_VALUE : devices ? SUCCESS : NO_DEVICE);
}

int cuDriverGetVersion(int *version)
{
    BEGIN(0)
    *version = driver_version;
    return end(SUCCESS);
}

int cuDeviceGetCount(int *count)
{
    BEGIN(0)
    *count = devices;
    return end(SUCCESS);
}

int cuDeviceGet(int *device, int ordinal)
{
    BEGIN(0)
    *device = ordinal;
    return end(ordinal >= 0 && ordinal < devices ? SUCCESS : INVALID_DEVICE);
}

int cuDeviceGetName(char *name, int length, int device)
{
    BEGIN(0)
    snprintf(name, length, "emulated %d", device);
    return end(SUCCESS);
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    BEGIN(0)
    switch (attribute) {
    case 33: /* PCI bus */
        *value = 0xe0 + device;
        break;
    case 34: /* PCI device */
        *value = 0x1f;
        break;
    case 50: /* PCI domain */
        *value = 0xffff;
        break;
    case 75: /* compute capability */
        *value = major;
        break;
    case 76:
        *value = minor;
        break;
    case 116: /* GPUDirect RDMA */
        *value = 1;
        break;
    case 117: /* whether the host can flush the writes of RDMA devices */
        *value = 1;
        return end(driver_version >= 11030 ? SUCCESS : INVALID_VALUE);
    case 118: /* whether kernels see these writes without a flush */
        *value = ordering;
        return end(driver_version >= 11030 ? SUCCESS : INVALID_VALUE);
    case 124: /* dma-buf, which drivers before CUDA 11.7 do not support */
        *value = 1;
        return end(driver_version >= 11070 ? SUCCESS : INVALID_VALUE);
    default:
        return end(complain(INVALID_VALUE, "the attribute is not emulated"));
    }
    return end(SUCCESS);
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    BEGIN(0)
    (void) device;
    *bytes = total_bytes;
    return end(SUCCESS);
}

int cuCtxCreate_v2(struct object **context, unsigned flags, int device)
{
    BEGIN(0)
    (void) flags;
    (void) device;
    if (!base) {
        base = (uint64_t) mmap(NULL, ADDRESSES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == (uint64_t) MAP_FAILED) {
            base = 0;
            return end(complain(OUT_OF_MEMORY, "there are too few addresses for the emulated memory"));
        }
        next_address = base;
    }
    broken = 0;
    current = *context = create(CONTEXT);
    return end(SUCCESS);
}

int cuCtxDestroy_v2(struct object *context)
{
    BEGIN_FREE(0);
    if (!find(CONTEXT, context)) {
        return end(INVALID_CONTEXT);
    }
    release(context);
    for (struct object *object = objects; object; object = object->next) {
        if (object->live) {
            release(object);
            leaked++;
        }
    }
    broken = 0;
    return end(result);
}

int cuCtxSetCurrent(struct object *context)
{
    BEGIN(0)
    current = context;
    return end(find(CONTEXT, context) ? SUCCESS : INVALID_CONTEXT);
}

int cuCtxSynchronize(void)
{
    BEGIN(1)
    return end(finish_all());
}

int cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    BEGIN(1)
    *unused = total_bytes - used_bytes;
    *total = total_bytes;
    return end(SUCCESS);
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    struct object *object;
    BEGIN(1)
    if (bytes == 0 || bytes > total_bytes - used_bytes || next_address + bytes + 2 * GUARD > base + ADDRESSES) {
        return end(bytes == 0 ? INVALID_VALUE : OUT_OF_MEMORY);
    }
    object = create(DEVICE);
    object->bytes = bytes;
    object->memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    /* The content of new memory is undefined, so it is filled with NaNs. */
    memset(object->memory, 0xff, bytes);
    *address = object->address = next_address + GUARD;
    next_address = (object->address + bytes + 511) / 512 * 512;
    used_bytes += bytes;
    return end(SUCCESS);
}

int cuMemFree_v2(uint64_t address)
{
    struct object *object;
    BEGIN_FREE(1);
    object = find_range(DEVICE, DEVICE, address, 1);
    if (!object || object->address != address || broken) {
        return end(broken ? broken : INVALID_VALUE);
    }
    finish_all();
    release(object);
    return end(result ? result : broken);
}

/*
 * Gives an RDMA device access to device memory, by mapping a file at the addresses of the memory. The host keeps its access to
 * these addresses until the first launch of a GPU kernel, because Linux needs the access to pin the pages for the RDMA device.
 */
static int share(struct object *object)
{
    uint64_t bytes = whole_pages(object);
    void *start = (void *) (object->address / 4096 * 4096);
    object->file = memfd_create("emulated-device", MFD_CLOEXEC);
    if (object->file < 0 || ftruncate(object->file, bytes) != 0) {
        return OUT_OF_MEMORY;
    }
    object->arrivals = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, object->file, 0);
    if (object->arrivals == MAP_FAILED
        || (peer_memory && mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, object->file, 0) == MAP_FAILED)) {
        object->arrivals = NULL;
        return OUT_OF_MEMORY;
    }
    memset(object->arrivals, 0xff, bytes);
    return SUCCESS;
}

int cuPointerSetAttribute(const void *value, int attribute, uint64_t address)
{
    struct object *object;
    BEGIN(1)
    object = find_range(DEVICE, DEVICE, address, 1);
    if (!object || attribute != 6 || *(const int *) value != 1) {
        return end(complain(INVALID_VALUE, "only the attribute SYNC_MEMOPS of device memory can be set"));
    }
    return end(object->arrivals ? SUCCESS : share(object));
}

/*
 * Exports a dma-buf, which is handle type 1 and the only supported type. The result is a file with the memory. A real RDMA driver
 * would refuse it.
 */
int cuMemGetHandleForAddressRange(void *handle, uint64_t address, size_t bytes, int type, unsigned long long flags)
{
    struct object *object;
    BEGIN(1)
    object = find_range(DEVICE, DEVICE, address, bytes);
    if (!object || address % 65536 || bytes % 65536 || type != 1 || flags) {
        return end(complain(INVALID_VALUE, "the range of the dma-buf is wrong"));
    }
    if (!dma_buf || !object->arrivals) {
        return end(NOT_SUPPORTED);
    }
    *(int *) handle = dup(object->file);
    return end(SUCCESS);
}

int cuFlushGPUDirectRDMAWrites(int target, int scope)
{
    BEGIN(1)
    if (target != 0 || scope != 100) {
        return end(INVALID_VALUE);
    }
    flush();
    return end(SUCCESS);
}

int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    struct object *object;
    BEGIN(1)
    (void) flags;
    object = create(HOST);
    object->bytes = bytes;
    *memory = object->memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    object->address = (uint64_t) object->memory;
    return end(SUCCESS);
}

static int end_pinning(enum kind kind, void *memory, int result)
{
    struct object *object = find_range(kind, kind, (uint64_t) memory, 1);
    if (!object || object->address != (uint64_t) memory || broken) {
        return end(broken ? broken : INVALID_VALUE);
    }
    release(object);
    return end(result);
}

int cuMemFreeHost(void *memory)
{
    BEGIN_FREE(1);
    return end_pinning(HOST, memory, result);
}

int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
    struct object *object;
    BEGIN(1)
    (void) flags;
    object = create(REGISTERED);
    object->address = (uint64_t) memory;
    object->bytes = bytes;
    return end(SUCCESS);
}

int cuMemHostUnregister(void *memory)
{
    BEGIN_FREE(1);
    return end_pinning(REGISTERED, memory, result);
}

int cuStreamCreate(struct object **stream, unsigned flags)
{
    BEGIN(1)
    (void) flags;
    *stream = create(STREAM);
    return end(SUCCESS);
}

static int free_handle(enum kind kind, void *handle, int result)
{
    struct object *object = find(kind, handle);
    if (!object || broken) {
        return end(broken ? broken : INVALID_HANDLE);
    }
    finish_all();
    release(object);
    return end(result ? result : broken);
}

int cuStreamDestroy_v2(struct object *stream)
{
    BEGIN_FREE(1);
    return free_handle(STREAM, stream, result);
}

int cuStreamWaitEvent(struct object *stream, struct object *event, unsigned flags)
{
    BEGIN(1)
    (void) flags;
    if (!find(EVENT, event)) {
        return end(INVALID_HANDLE);
    }
    return end(add(find(STREAM, stream), (struct work) {.kind = WAIT, .event = event, .generation = event->recorded}));
}

int cuEventCreate(struct object **event, unsigned flags)
{
    BEGIN(1)
    (void) flags;
    *event = create(EVENT);
    return end(SUCCESS);
}

int cuEventDestroy_v2(struct object *event)
{
    BEGIN_FREE(1);
    return free_handle(EVENT, event, result);
}

int cuEventRecord(struct object *event, struct object *stream)
{
    BEGIN(1)
    if (!find(EVENT, event)) {
        return end(INVALID_HANDLE);
    }
    result = add(find(STREAM, stream), (struct work) {.kind = RECORD, .event = event, .generation = event->recorded + 1});
    event->recorded += result == SUCCESS;
    return end(result);
}

/* Every call lets the device do some work, so a caller that polls often enough sees the event complete. */
int cuEventQuery(struct object *event)
{
    BEGIN(1)
    if (!find(EVENT, event)) {
        return end(INVALID_HANDLE);
    }
    for (uint64_t n = hanging ? 0 : random_below(12); n > 0 && advance(); n--) {
    }
    return end(broken ? broken : event->completed < event->recorded ? NOT_READY : SUCCESS);
}

/* The caller must give exactly two options: a buffer for a log (5), and its size (6). */
int cuModuleLoadDataEx(struct object **module, const char *text, unsigned count, const int *options, void **values)
{
    struct ptx_module *parsed;
    BEGIN(1)
    if (count != 2 || options[0] != 6 || options[1] != 5) {
        return end(complain(INVALID_VALUE, "the options for loading a module are wrong"));
    }
    parsed = ptx_parse(text, message);
    if (!parsed) {
        snprintf(values[1], (size_t) values[0], "ptx input, %s\n\nfatal: the input is refused\n", message);
        return end(INVALID_PTX);
    }
    *module = create(MODULE);
    (*module)->module = parsed;
    return end(SUCCESS);
}

int cuModuleUnload(struct object *module)
{
    BEGIN_FREE(1);
    return free_handle(MODULE, module, result);
}

int cuModuleGetFunction(struct ptx_entry **function, struct object *module, const char *name)
{
    BEGIN(1)
    if (!find(MODULE, module)) {
        return end(INVALID_HANDLE);
    }
    *function = ptx_find(module->module, name);
    return end(*function ? SUCCESS : NOT_FOUND);
}

int cuLaunchKernel(struct ptx_entry *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned threads_x,
    unsigned threads_y, unsigned threads_z, unsigned shared, struct object *stream, void **parameters, void **extra)
{
    const struct ptx_signature *signature = ptx_signature(function);
    struct work work = {.kind = LAUNCH, .entry = function, .grid = {grid_x, grid_y, grid_z}};
    BEGIN(1)
    if (grid_x == 0 || grid_y == 0 || grid_y > 65535 || grid_z != 1 || threads_x != signature->threads || threads_y != 1
        || threads_z != 1 || shared || extra) {
        return end(complain(INVALID_VALUE, "the dimensions of the launch are wrong"));
    }
    for (struct object *object = objects; object; object = object->next) {
        if (object->live && object->kind == DEVICE && object->arrivals) {
            fence(object, 0);
        }
    }
    for (int i = 0; i < signature->parameters; i++) {
        memcpy(&work.parameters[i], parameters[i], signature->bytes[i]);
    }
    return end(add(find(STREAM, stream), work));
}

/* A real driver also copies memory that is not pinned, but then waits for the device. Here, such a copy is an error. */
static int copy(enum work_kind kind, uint64_t device, void *host, size_t bytes, struct object *stream)
{
    if (!device_memory(device, bytes) || !find_range(HOST, REGISTERED, (uint64_t) host, bytes)) {
        return complain(INVALID_VALUE, "one end of the copy is not device memory, or the other end is not pinned host memory");
    }
    return add(find(STREAM, stream), (struct work) {.kind = kind, .device = device, .host = host, .bytes = bytes});
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, struct object *stream)
{
    BEGIN(1)
    return end(copy(COPY_TO_DEVICE, to, (void *) from, bytes, stream));
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, struct object *stream)
{
    BEGIN(1)
    return end(copy(COPY_TO_HOST, from, to, bytes, stream));
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, struct object *stream)
{
    BEGIN(1)
    if (!device_memory(to, bytes) || !device_memory(from, bytes)) {
        return end(INVALID_VALUE);
    }
    return end(add(find(STREAM, stream), (struct work) {.kind = COPY_ON_DEVICE, .device = to, .source = from, .bytes = bytes}));
}

int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, struct object *stream)
{
    BEGIN(1)
    if (!device_memory(to, bytes)) {
        return end(INVALID_VALUE);
    }
    return end(add(find(STREAM, stream), (struct work) {.kind = FILL, .device = to, .value = value, .bytes = bytes}));
}
