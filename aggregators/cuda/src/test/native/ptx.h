/*
 * An interpreter of the part of PTX that the kernels of modeldisk use. An unknown instruction, a register of the wrong size and a
 * register that is read before it is written are errors.
 */
#ifndef PTX_H
#define PTX_H

#include <stddef.h>
#include <stdint.h>

enum { PTX_MAX_PARAMETERS = 16, PTX_MESSAGE_BYTES = 256 };

struct ptx_module;
struct ptx_entry;

/* The sizes of the parameters of an entry in bytes, and its number of threads. */
struct ptx_signature {
    int parameters;
    int bytes[PTX_MAX_PARAMETERS];
    unsigned threads;
};

/* Returns the host's copy of device memory; NULL if the range is no part of an allocation. */
typedef unsigned char *(*ptx_memory)(uint64_t address, unsigned bytes);

/* Returns NULL and a message if the text is refused. */
struct ptx_module *ptx_parse(const char *text, char *message);
void ptx_free(struct ptx_module *module);
struct ptx_entry *ptx_find(struct ptx_module *module, const char *name);
const struct ptx_signature *ptx_signature(const struct ptx_entry *entry);

/* The results of a launch: 0, or the errors of the CUDA driver. */
enum { PTX_OK = 0, PTX_ILLEGAL_ADDRESS = 700, PTX_TIMEOUT = 702, PTX_MISALIGNED = 716, PTX_FAILED = 719 };

/* Runs all groups of threads, from group number "first" on. */
int ptx_run(const struct ptx_entry *entry, const uint64_t *parameters, const unsigned grid[3], uint64_t first, ptx_memory memory,
    char *message);

#endif
