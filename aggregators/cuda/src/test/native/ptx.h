/*
 * An interpreter for the part of PTX that the kernels of modeldisk use. It reports an error for an unknown instruction, for a
 * register of the wrong size, and for a register that is read before it is written.
 */
#ifndef PTX_H
#define PTX_H

#include <stddef.h>
#include <stdint.h>

enum { PTX_MAX_PARAMETERS = 16, PTX_MESSAGE_BYTES = 256 };

struct ptx_module;
struct ptx_entry;

/* The parameters of an entry function, with their sizes in bytes, and its number of threads. */
struct ptx_signature {
    int parameters;
    int bytes[PTX_MAX_PARAMETERS];
    unsigned threads;
};

/* Returns the host memory that holds the bytes of emulated device memory, or NULL if the range is not in an allocation. */
typedef unsigned char *(*ptx_memory)(uint64_t address, unsigned bytes);

/* Parses a PTX text. If the text is refused, returns NULL and writes the reason to message. */
struct ptx_module *ptx_parse(const char *text, char *message);
void ptx_free(struct ptx_module *module);
struct ptx_entry *ptx_find(struct ptx_module *module, const char *name);
const struct ptx_signature *ptx_signature(const struct ptx_entry *entry);

/* The results of a launch: 0, or an error number of the CUDA driver. */
enum { PTX_OK = 0, PTX_ILLEGAL_ADDRESS = 700, PTX_TIMEOUT = 702, PTX_MISALIGNED = 716, PTX_FAILED = 719 };

/* Runs all groups of threads, starting with group number first. Returns the result of the launch. */
int ptx_run(const struct ptx_entry *entry, const uint64_t *parameters, const unsigned grid[3], uint64_t first, ptx_memory memory,
    char *message);

#endif
