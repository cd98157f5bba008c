#include "code.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STEPS = 1000000, MAX_BARRIERS = 4096 };

struct thread {
    uint64_t registers[MAX_REGISTERS];
    unsigned char written[MAX_REGISTERS];
    unsigned special[SPECIALS];
    /* The index of the next instruction, and whether the thread waits at a barrier before this instruction. */
    int at, waits;
};

/*
 * 8 bytes of shared memory. Writer and reader are the threads that last accessed these bytes, or -1 for several threads. The
 * fields written_after and read_after are the values of group.barriers at these accesses, or 0 if there was none.
 */
struct cell {
    uint64_t value;
    int written_after, writer, read_after, reader;
};

/* A group of threads, and its shared memory. */
struct group {
    struct thread threads[MAX_THREADS];
    struct cell cells[MAX_CELLS];
    int barriers;
};

static float as_float(uint64_t bits)
{
    uint32_t word = (uint32_t) bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* Returns the bits of a computed value. As on a GPU, every computed NaN has the same bits. */
static uint64_t as_bits(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return value != value ? 0x7fffffff : word;
}

static double as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t as_bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? 0xfff8000000000000 : bits;
}

static int bad(char *message, const struct instruction *i, int error, const char *text)
{
    snprintf(message, PTX_MESSAGE_BYTES, "line %d: %s: %s", i->line, i->opcode->name, text);
    return error;
}

/* Reads the value of an operand. Returns 0 if the operand is a register that was never written. */
static int value_of(const struct thread *t, const struct operand *operand, uint64_t *value)
{
    switch (operand->kind) {
    case IMMEDIATE:
        *value = operand->value;
        return 1;
    case SPECIAL_REGISTER:
        *value = t->special[operand->index];
        return 1;
    default:
        *value = t->registers[operand->index];
        return t->written[operand->index];
    }
}

static void write_register(struct thread *t, const struct operand *operand, uint64_t value)
{
    t->registers[operand->index] = value;
    t->written[operand->index] = 1;
}

static int access_memory(struct thread *t, const struct instruction *i, ptx_memory memory, char *message)
{
    const struct opcode *opcode = i->opcode;
    int store = opcode->op == ST, bytes = store ? opcode->from : opcode->to;
    const struct operand *address = &i->operands[store ? 0 : opcode->vector];
    const struct operand *values = &i->operands[store ? 1 : 0];
    uint64_t at = t->registers[address->index] + address->value;
    unsigned char *host;
    if (!t->written[address->index]) {
        return bad(message, i, PTX_FAILED, "the address was never written");
    }
    if (at % (unsigned) (bytes * opcode->vector) != 0) {
        return bad(message, i, PTX_MISALIGNED, "the address is misaligned");
    }
    host = memory(at, bytes * opcode->vector);
    if (!host) {
        return bad(message, i, PTX_ILLEGAL_ADDRESS, "the address is outside of any allocation");
    }
    for (int n = 0; n < opcode->vector; n++, host += bytes) {
        uint64_t value = 0;
        if (!store) {
            memcpy(&value, host, bytes);
            write_register(t, &values[n], value);
        } else if (value_of(t, &values[n], &value)) {
            memcpy(host, &value, bytes);
        } else {
            return bad(message, i, PTX_FAILED, "the value was never written");
        }
    }
    return PTX_OK;
}

/* Accesses shared memory. If a thread writes a value, other threads may access it only after a barrier. */
static int access_shared(struct group *group, int thread, const struct ptx_entry *entry, const struct instruction *i,
    char *message)
{
    struct thread *t = &group->threads[thread];
    const struct opcode *opcode = i->opcode;
    int store = opcode->op == ST_SHARED;
    const struct operand *address = &i->operands[store ? 0 : opcode->vector];
    const struct operand *values = &i->operands[store ? 1 : 0];
    uint64_t at = t->registers[address->index] + address->value;
    if (!t->written[address->index]) {
        return bad(message, i, PTX_FAILED, "the address was never written");
    }
    if (at % (8u * opcode->vector) != 0 || at + 8u * opcode->vector > entry->shared_bytes) {
        return bad(message, i, PTX_MISALIGNED, "the address is misaligned or outside of the shared memory");
    }
    for (int n = 0; n < opcode->vector; n++) {
        struct cell *cell = &group->cells[at / 8 + n];
        if ((cell->written_after == group->barriers && cell->writer != thread)
            || (store && cell->read_after == group->barriers && cell->reader != thread)) {
            return bad(message, i, PTX_FAILED, "two threads access the same shared memory without a barrier between them");
        }
        if (store) {
            if (!value_of(t, &values[n], &cell->value)) {
                return bad(message, i, PTX_FAILED, "the value was never written");
            }
            cell->written_after = group->barriers;
            cell->writer = thread;
        } else {
            if (cell->written_after == 0) {
                return bad(message, i, PTX_FAILED, "the shared memory was never written");
            }
            cell->reader = cell->read_after == group->barriers && cell->reader != thread ? -1 : thread;
            cell->read_after = group->barriers;
            write_register(t, &values[n], cell->value);
        }
    }
    return PTX_OK;
}

static uint64_t compute(enum op op, uint64_t a, uint64_t b, uint64_t c, int bytes)
{
    uint64_t mask = bytes == 8 ? ~0ull : 0xffffffff;
    float x = as_float(a), y = as_float(b), z = as_float(c);
    double u = as_double(a), v = as_double(b), w = as_double(c);
    switch (op) {
    case MOV: return a;
    case MAD: return (a * b + c) & mask;
    case MUL: return (a * b) & mask;
    case MUL_WIDE: return (a & 0xffffffff) * (b & 0xffffffff);
    case ADD: return (a + b) & mask;
    case SUB: return (a - b) & mask;
    case MIN: return a < b ? a : b;
    case SHL: return b < 32 ? (a << b) & mask : 0;
    case SHR: return b < 32 ? a >> b : 0;
    case SHR_S: return (uint32_t) ((int32_t) a >> (b < 32 ? b : 31));
    case AND: return a & b;
    case OR: return a | b;
    case SETP_EQ: return (uint32_t) a == (uint32_t) b;
    case SETP_GE: return (uint32_t) a >= (uint32_t) b;
    case SETP_NE: return (uint32_t) a != (uint32_t) b;
    case SETP_EQ_F: return x == y;
    case SETP_GT_F: return x > y;
    case SETP_LT_F: return x < y;
    case SELP: return c ? a : b;
    case NEG_F: return a ^ 0x80000000;
    case FMA_F: return as_bits(fmaf(x, y, z));
    case MUL_F: return as_bits(x * y);
    case ADD_F: return as_bits(x + y);
    case DIV_F: return as_bits(x / y);
    case SQRT_F: return as_bits(sqrtf(x));
    case WIDEN: return as_bits_of_double(x);
    case NARROW: return as_bits((float) u);
    case SETP_GT_D: return u > v;
    case FMA_D: return as_bits_of_double(fma(u, v, w));
    case MUL_D: return as_bits_of_double(u * v);
    case ADD_D: return as_bits_of_double(u + v);
    case DIV_D: return as_bits_of_double(u / v);
    default: return as_bits_of_double(sqrt(u));
    }
}

/* Runs a thread until its end or the next barrier. */
static int run_thread(const struct ptx_entry *entry, const uint64_t *parameters, struct group *group, int thread,
    ptx_memory memory, char *message)
{
    struct thread *t = &group->threads[thread];
    t->waits = 0;
    for (int step = 0; step < MAX_STEPS; step++) {
        const struct instruction *i = &entry->code[t->at++];
        const struct operand *o = i->operands;
        uint64_t source[3] = {0, 0, 0};
        int result;
        if (i->predicate >= 0) {
            if (!t->written[i->predicate]) {
                return bad(message, i, PTX_FAILED, "the predicate was never written");
            }
            if ((t->registers[i->predicate] != 0) == i->negated) {
                continue;
            }
        }
        switch (i->opcode->op) {
        case RET:
            return PTX_OK;
        case BRA:
            t->at = entry->label[o[0].index].instruction;
            break;
        case BAR:
            t->waits = 1;
            return PTX_OK;
        case LD_PARAM:
            write_register(t, &o[0], parameters[o[1].index]);
            break;
        case LD:
        case ST:
        case LD_SHARED:
        case ST_SHARED:
            result = i->opcode->op == LD || i->opcode->op == ST ? access_memory(t, i, memory, message)
                : access_shared(group, thread, entry, i, message);
            if (result != PTX_OK) {
                return result;
            }
            break;
        default:
            for (int n = 1; n < i->opcode->operands; n++) {
                if (!value_of(t, &o[n], &source[n - 1])) {
                    return bad(message, i, PTX_FAILED, "an operand was never written");
                }
            }
            write_register(t, &o[0], compute(i->opcode->op, source[0], source[1], source[2], i->opcode->to));
        }
    }
    return bad(message, &entry->code[t->at], PTX_TIMEOUT, "the thread runs too long");
}

/*
 * Runs the threads of a group in ascending or descending order, each until its next barrier, and repeats this until all threads
 * have ended.
 */
static int run_group(const struct ptx_entry *entry, const uint64_t *parameters, struct group *group, int descending,
    ptx_memory memory, char *message)
{
    int threads = (int) entry->signature.threads;
    for (group->barriers = 1; group->barriers <= MAX_BARRIERS; group->barriers++) {
        int waiting = 0;
        for (int n = 0; n < threads; n++) {
            int thread = descending ? threads - 1 - n : n;
            int result = run_thread(entry, parameters, group, thread, memory, message);
            if (result != PTX_OK) {
                return result;
            }
            waiting += group->threads[thread].waits;
        }
        if (waiting == 0) {
            return PTX_OK;
        }
        for (int n = 0; n < threads; n++) {
            if (waiting != threads || group->threads[n].at != group->threads[0].at) {
                return bad(message, &entry->code[group->threads[n].at - 1], PTX_FAILED, "not all threads reach the barrier");
            }
        }
    }
    return bad(message, &entry->code[group->threads[0].at - 1], PTX_TIMEOUT, "the group of threads passes too many barriers");
}

int ptx_run(const struct ptx_entry *entry, const uint64_t *parameters, const unsigned grid[3], uint64_t first, ptx_memory memory,
    char *message)
{
    static struct group group;
    uint64_t groups = (uint64_t) grid[0] * grid[1] * grid[2];
    for (uint64_t n = 0; n < groups; n++) {
        uint64_t number = (first + n) % groups;
        int result;
        memset(group.cells, 0, entry->shared_bytes / 8 * sizeof *group.cells);
        for (unsigned thread = 0; thread < entry->signature.threads; thread++) {
            struct thread *t = &group.threads[thread];
            memset(t->written, 0, sizeof t->written);
            t->special[0] = thread;
            t->special[1] = (unsigned) (number % grid[0]);
            t->special[2] = (unsigned) (number / grid[0] % grid[1]);
            t->special[3] = grid[0];
            t->at = 0;
        }
        result = run_group(entry, parameters, &group, first % 2, memory, message);
        if (result != PTX_OK) {
            return result;
        }
    }
    return PTX_OK;
}
