#include "ptx.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_REGISTERS = 128, MAX_LABELS = 16, MAX_OPERANDS = 8, MAX_STEPS = 1000000, MAX_BARRIERS = 4096, MAX_THREADS = 256,
    MAX_CELLS = 2048, NAME = 64
};

enum op {
    LD_PARAM, LD, ST, LD_SHARED, ST_SHARED, MOV, MAD, MUL, MUL_WIDE, ADD, SUB, MIN, SHR, AND, SETP_GE, SETP_NE, SETP_EQ, SETP_EQ_F,
    SETP_GT_F, SETP_LT_F, SELP, NEG_F, FMA_F, MUL_F, ADD_F, DIV_F, SQRT_F, WIDEN, NARROW, SETP_GT_D, FMA_D, MUL_D, ADD_D, DIV_D,
    SQRT_D, BAR, BRA, RET
};

/* The size of a predicate is 1. */
struct opcode {
    const char *name;
    enum op op;
    /* The number of operands, the bytes of the destination, and those of the sources. */
    int operands, to, from, vector;
};

static const struct opcode OPCODES[] = {
    {"ld.param.u64", LD_PARAM, 2, 8, 0, 1}, {"ld.param.f32", LD_PARAM, 2, 4, 0, 1},
    {"ld.global.u32", LD, 2, 4, 0, 1}, {"ld.global.f32", LD, 2, 4, 0, 1}, {"ld.global.v2.u64", LD, 3, 8, 0, 2},
    {"ld.global.v4.f32", LD, 5, 4, 0, 4}, {"st.global.v4.f32", ST, 5, 0, 4, 4},
    {"st.global.f32", ST, 2, 0, 4, 1}, {"ld.shared.f64", LD_SHARED, 2, 8, 0, 1}, {"ld.shared.v2.f64", LD_SHARED, 3, 8, 0, 2},
    {"st.shared.f64", ST_SHARED, 2, 0, 8, 1}, {"st.shared.v2.f64", ST_SHARED, 3, 0, 8, 2},
    {"mov.u32", MOV, 2, 4, 4, 1}, {"mov.f32", MOV, 2, 4, 4, 1}, {"mad.lo.u32", MAD, 4, 4, 4, 1}, {"mul.lo.u32", MUL, 3, 4, 4, 1},
    {"mul.wide.u32", MUL_WIDE, 3, 8, 4, 1}, {"add.u32", ADD, 3, 4, 4, 1}, {"add.u64", ADD, 3, 8, 8, 1},
    {"setp.ge.u32", SETP_GE, 3, 1, 4, 1}, {"setp.ne.u32", SETP_NE, 3, 1, 4, 1}, {"setp.eq.f32", SETP_EQ_F, 3, 1, 4, 1},
    {"setp.gt.f32", SETP_GT_F, 3, 1, 4, 1}, {"setp.lt.f32", SETP_LT_F, 3, 1, 4, 1}, {"selp.f32", SELP, 4, 4, 4, 1},
    {"selp.b32", SELP, 4, 4, 4, 1}, {"neg.f32", NEG_F, 2, 4, 4, 1}, {"fma.rn.f32", FMA_F, 4, 4, 4, 1},
    {"mul.rn.f32", MUL_F, 3, 4, 4, 1}, {"add.rn.f32", ADD_F, 3, 4, 4, 1}, {"div.rn.f32", DIV_F, 3, 4, 4, 1},
    {"sqrt.rn.f32", SQRT_F, 2, 4, 4, 1}, {"bra", BRA, 1, 0, 0, 1}, {"ret", RET, 0, 0, 0, 1}, {"bar.sync", BAR, 1, 0, 4, 1},
    {"sub.u32", SUB, 3, 4, 4, 1}, {"min.u32", MIN, 3, 4, 4, 1}, {"shr.u32", SHR, 3, 4, 4, 1}, {"and.b32", AND, 3, 4, 4, 1},
    {"setp.eq.u32", SETP_EQ, 3, 1, 4, 1}, {"mov.f64", MOV, 2, 8, 8, 1}, {"cvt.f64.f32", WIDEN, 2, 8, 4, 1},
    {"cvt.rn.f32.f64", NARROW, 2, 4, 8, 1}, {"setp.gt.f64", SETP_GT_D, 3, 1, 8, 1}, {"selp.f64", SELP, 4, 8, 8, 1},
    {"fma.rn.f64", FMA_D, 4, 8, 8, 1}, {"mul.rn.f64", MUL_D, 3, 8, 8, 1}, {"add.rn.f64", ADD_D, 3, 8, 8, 1},
    {"div.rn.f64", DIV_D, 3, 8, 8, 1}, {"sqrt.rn.f64", SQRT_D, 2, 8, 8, 1},
};

static const char *const SPECIAL[] = {"%tid.x", "%ctaid.x", "%ctaid.y", "%nctaid.x"};
enum { SPECIALS = 4 };

enum kind { REGISTER, IMMEDIATE, SPECIAL_REGISTER, ADDRESS, PARAMETER, LABEL };

struct operand {
    enum kind kind;
    int index;
    uint64_t value;
};

struct instruction {
    const struct opcode *opcode;
    int predicate, negated, line;
    struct operand operands[MAX_OPERANDS];
};

struct label {
    char name[NAME];
    int instruction;
};

struct ptx_entry {
    struct ptx_entry *next;
    char name[NAME];
    struct ptx_signature signature;
    char parameters[PTX_MAX_PARAMETERS][NAME];
    int registers;
    char register_names[MAX_REGISTERS][NAME];
    int register_bytes[MAX_REGISTERS];
    int labels;
    struct label label[MAX_LABELS];
    char shared[NAME];
    uint64_t shared_bytes;
    int count, room;
    struct instruction *code;
};

struct ptx_module {
    struct ptx_entry *entries;
};

struct parser {
    const char *at;
    int line;
    char *message;
    struct ptx_entry *entry;
};

static int fail(struct parser *p, const char *format, ...)
{
    va_list arguments;
    int used = snprintf(p->message, PTX_MESSAGE_BYTES, "line %d: ", p->line);
    va_start(arguments, format);
    vsnprintf(p->message + used, PTX_MESSAGE_BYTES - used, format, arguments);
    va_end(arguments);
    return 0;
}

static void skip(struct parser *p)
{
    for (;;) {
        if (p->at[0] == '/' && p->at[1] == '/') {
            while (*p->at && *p->at != '\n') {
                p->at++;
            }
        } else if (isspace((unsigned char) *p->at)) {
            p->line += *p->at == '\n';
            p->at++;
        } else {
            return;
        }
    }
}

/* Reads one character, or a word of letters, digits and ". _ % $". */
static int token(struct parser *p, char *word)
{
    int n = 0;
    skip(p);
    while (n < NAME - 1 && (isalnum((unsigned char) *p->at) || (*p->at && strchr("._%$", *p->at)))) {
        word[n++] = *p->at++;
    }
    if (n == 0 && *p->at) {
        word[n++] = *p->at++;
    }
    word[n] = 0;
    return n > 0;
}

static int expect(struct parser *p, const char *wanted)
{
    char word[NAME];
    token(p, word);
    return strcmp(word, wanted) == 0 || fail(p, "\"%s\" instead of \"%s\"", word, wanted);
}

static int number(struct parser *p, const char *word, uint64_t *value)
{
    char *end;
    *value = word[0] == '0' && (word[1] == 'f' || word[1] == 'd') ? strtoull(word + 2, &end, 16) : strtoull(word, &end, 10);
    return (isdigit((unsigned char) word[0]) && *end == 0) || fail(p, "\"%s\" is no number", word);
}

static int find_register(const struct ptx_entry *entry, const char *name)
{
    for (int i = 0; i < entry->registers; i++) {
        if (strcmp(entry->register_names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

static int type_bytes(const char *type)
{
    return strcmp(type, ".pred") == 0 ? 1 : strstr(type, "64") ? 8 : strstr(type, "32") ? 4 : 0;
}

/* .reg .f32 %f<8>; declares %f0 to %f7. */
static int registers(struct parser *p)
{
    char type[NAME], base[NAME], count[NAME];
    uint64_t n;
    token(p, type);
    token(p, base);
    if (!expect(p, "<") || !token(p, count) || !number(p, count, &n) || !expect(p, ">") || !expect(p, ";")) {
        return 0;
    }
    if (type_bytes(type) == 0 || p->entry->registers + n > MAX_REGISTERS) {
        return fail(p, "registers %s of type %s", base, type);
    }
    for (uint64_t i = 0; i < n; i++) {
        int index = p->entry->registers++;
        snprintf(p->entry->register_names[index], NAME, "%.40s%d", base, (int) i);
        p->entry->register_bytes[index] = type_bytes(type);
    }
    return 1;
}

/* .shared .align 16 .b8 NAME[BYTES]; declares the only shared memory of an entry. Its address is 0. */
static int shared(struct parser *p)
{
    char count[NAME];
    struct ptx_entry *entry = p->entry;
    if (!expect(p, ".align") || !expect(p, "16") || !expect(p, ".b8") || !token(p, entry->shared) || !expect(p, "[")
        || !token(p, count) || !number(p, count, &entry->shared_bytes) || !expect(p, "]") || !expect(p, ";")) {
        return 0;
    }
    return entry->shared_bytes <= 8 * MAX_CELLS || fail(p, "%s has too many bytes", entry->shared);
}

static int label_index(struct parser *p, const char *name)
{
    struct ptx_entry *entry = p->entry;
    for (int i = 0; i < entry->labels; i++) {
        if (strcmp(entry->label[i].name, name) == 0) {
            return i;
        }
    }
    if (entry->labels == MAX_LABELS) {
        fail(p, "too many labels");
        return -1;
    }
    snprintf(entry->label[entry->labels].name, NAME, "%s", name);
    entry->label[entry->labels].instruction = -1;
    return entry->labels++;
}

/* Reads a register, a number, a special register, [register+number], [parameter] or a label. */
static int operand(struct parser *p, struct operand *operand, const struct opcode *opcode, int bytes)
{
    char word[NAME];
    int address_bytes = opcode->op == LD_SHARED || opcode->op == ST_SHARED ? 4 : 8;
    token(p, word);
    if (strcmp(word, "[") == 0) {
        token(p, word);
        operand->kind = ADDRESS;
        operand->index = find_register(p->entry, word);
        operand->value = 0;
        if (opcode->op == LD_PARAM) {
            operand->kind = PARAMETER;
            for (int i = 0; i < p->entry->signature.parameters; i++) {
                if (strcmp(p->entry->parameters[i], word) == 0) {
                    operand->index = i;
                    return expect(p, "]");
                }
            }
            return fail(p, "no parameter %s", word);
        }
        if (operand->index < 0 || p->entry->register_bytes[operand->index] != address_bytes) {
            return fail(p, "%s is no register of an address", word);
        }
        token(p, word);
        if (strcmp(word, "+") == 0) {
            return token(p, word) && number(p, word, &operand->value) && expect(p, "]");
        }
        return strcmp(word, "]") == 0 || fail(p, "\"%s\" instead of \"]\"", word);
    }
    if (opcode->op == BRA) {
        operand->kind = LABEL;
        operand->index = label_index(p, word);
        return operand->index >= 0;
    }
    for (int i = 0; i < SPECIALS && opcode->op == MOV; i++) {
        if (strcmp(SPECIAL[i], word) == 0) {
            operand->kind = SPECIAL_REGISTER;
            operand->index = i;
            return 1;
        }
    }
    if (word[0] == '%') {
        operand->kind = REGISTER;
        operand->index = find_register(p->entry, word);
        if (operand->index < 0 || p->entry->register_bytes[operand->index] != bytes) {
            return fail(p, "%s is no register of %d bytes", word, bytes);
        }
        return 1;
    }
    operand->kind = IMMEDIATE;
    if (opcode->op == MOV && p->entry->shared_bytes && strcmp(p->entry->shared, word) == 0) {
        return 1;
    }
    return number(p, word, &operand->value);
}

static int is_load(const struct opcode *opcode)
{
    return opcode->op == LD || opcode->op == LD_SHARED;
}

static int operand_bytes(const struct opcode *opcode, int index)
{
    if (opcode->op == SELP && index == 3) {
        return 1;
    }
    return index < (is_load(opcode) ? opcode->vector : 1) && opcode->to ? opcode->to : opcode->from;
}

/* Reads the operands: those of a vector are in braces. */
static int operands(struct parser *p, struct instruction *instruction)
{
    const struct opcode *opcode = instruction->opcode;
    int vector_start = opcode->vector == 1 ? -1 : is_load(opcode) ? 0 : 1;
    for (int i = 0; i < opcode->operands; i++) {
        if ((i > 0 && !expect(p, ",")) || (i == vector_start && !expect(p, "{"))
            || !operand(p, &instruction->operands[i], opcode, operand_bytes(opcode, i))
            || (vector_start >= 0 && i == vector_start + opcode->vector - 1 && !expect(p, "}"))) {
            return 0;
        }
    }
    if (opcode->to && instruction->operands[0].kind != REGISTER) {
        return fail(p, "%s writes no register", opcode->name);
    }
    return expect(p, ";");
}

static int statement(struct parser *p, char *word)
{
    struct ptx_entry *entry = p->entry;
    struct instruction *instruction;
    if (entry->count == entry->room) {
        entry->room = entry->room ? 2 * entry->room : 64;
        entry->code = realloc(entry->code, entry->room * sizeof *entry->code);
    }
    instruction = &entry->code[entry->count];
    memset(instruction, 0, sizeof *instruction);
    instruction->predicate = -1;
    instruction->line = p->line;
    if (strcmp(word, "@") == 0) {
        token(p, word);
        if (strcmp(word, "!") == 0) {
            instruction->negated = 1;
            token(p, word);
        }
        instruction->predicate = find_register(entry, word);
        if (instruction->predicate < 0 || entry->register_bytes[instruction->predicate] != 1) {
            return fail(p, "%s is no predicate", word);
        }
        token(p, word);
    }
    for (size_t i = 0; i < sizeof OPCODES / sizeof *OPCODES; i++) {
        if (strcmp(OPCODES[i].name, word) == 0) {
            instruction->opcode = &OPCODES[i];
            entry->count++;
            return operands(p, instruction);
        }
    }
    return fail(p, "the instruction %s is unknown", word);
}

static int signature(struct parser *p)
{
    char word[NAME];
    uint64_t threads;
    struct ptx_signature *signature = &p->entry->signature;
    if (!expect(p, "(")) {
        return 0;
    }
    do {
        if (signature->parameters == PTX_MAX_PARAMETERS || !expect(p, ".param") || !token(p, word)) {
            return fail(p, "parameters");
        }
        signature->bytes[signature->parameters] = type_bytes(word);
        token(p, p->entry->parameters[signature->parameters++]);
        token(p, word);
    } while (strcmp(word, ",") == 0);
    if (strcmp(word, ")") != 0 || !expect(p, ".reqntid") || !token(p, word) || !number(p, word, &threads)) {
        return fail(p, "the head of %s", p->entry->name);
    }
    signature->threads = (unsigned) threads;
    if (threads > MAX_THREADS) {
        return fail(p, "%s has too many threads", p->entry->name);
    }
    return expect(p, ",") && expect(p, "1") && expect(p, ",") && expect(p, "1") && expect(p, "{");
}

static int body(struct parser *p)
{
    char word[NAME];
    struct ptx_entry *entry = p->entry;
    while (token(p, word) && strcmp(word, "}") != 0) {
        skip(p);
        if (*p->at == ':') {
            int index = label_index(p, word);
            p->at++;
            if (index < 0 || entry->label[index].instruction >= 0) {
                return fail(p, "the label %s", word);
            }
            entry->label[index].instruction = entry->count;
        } else if (!(strcmp(word, ".reg") == 0 ? registers(p) : strcmp(word, ".shared") == 0 ? shared(p) : statement(p, word))) {
            return 0;
        }
    }
    for (int i = 0; i < entry->labels; i++) {
        if (entry->label[i].instruction < 0 || entry->label[i].instruction >= entry->count) {
            return fail(p, "the label %s has no instruction", entry->label[i].name);
        }
    }
    return entry->count > 0 && entry->code[entry->count - 1].opcode->op == RET ? 1 : fail(p, "%s ends without ret", entry->name);
}

struct ptx_module *ptx_parse(const char *text, char *message)
{
    char word[NAME];
    struct parser p = {text, 1, message, NULL};
    struct ptx_module *module = calloc(1, sizeof *module);
    int good = expect(&p, ".version") && expect(&p, "7.0") && expect(&p, ".target") && expect(&p, "sm_70")
        && expect(&p, ".address_size") && expect(&p, "64");
    while (good && token(&p, word)) {
        p.entry = calloc(1, sizeof *p.entry);
        p.entry->next = module->entries;
        module->entries = p.entry;
        good = (strcmp(word, ".visible") == 0 || fail(&p, "\"%s\" instead of .visible", word)) && expect(&p, ".entry")
            && token(&p, p.entry->name) && signature(&p) && body(&p);
    }
    if (!good) {
        ptx_free(module);
        return NULL;
    }
    return module;
}

void ptx_free(struct ptx_module *module)
{
    for (struct ptx_entry *entry = module->entries, *next; entry; entry = next) {
        next = entry->next;
        free(entry->code);
        free(entry);
    }
    free(module);
}

struct ptx_entry *ptx_find(struct ptx_module *module, const char *name)
{
    struct ptx_entry *entry = module->entries;
    while (entry && strcmp(entry->name, name) != 0) {
        entry = entry->next;
    }
    return entry;
}

const struct ptx_signature *ptx_signature(const struct ptx_entry *entry)
{
    return &entry->signature;
}

struct thread {
    uint64_t registers[MAX_REGISTERS];
    unsigned char written[MAX_REGISTERS];
    unsigned special[SPECIALS];
    /* The next instruction, and whether the thread waits at a barrier in front of it. */
    int at, waits;
};

/* 8 bytes of shared memory: their threads, and the numbers of the barriers before. Number 0: never; thread -1: several threads. */
struct cell {
    uint64_t value;
    int written_after, writer, read_after, reader;
};

/* A group of threads. */
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

/* A NaN that a GPU computes is always the same. */
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

/* Returns 0 if the operand is a register that was not written. */
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
        return bad(message, i, PTX_MISALIGNED, "misaligned address");
    }
    host = memory(at, bytes * opcode->vector);
    if (!host) {
        return bad(message, i, PTX_ILLEGAL_ADDRESS, "address outside of an allocation");
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

/* What one thread writes, another one may access only behind a barrier. */
static int access_shared(struct group *group, int thread, const struct ptx_entry *entry, const struct instruction *i, char *message)
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
        return bad(message, i, PTX_MISALIGNED, "misaligned or outside of the shared memory");
    }
    for (int n = 0; n < opcode->vector; n++) {
        struct cell *cell = &group->cells[at / 8 + n];
        if ((cell->written_after == group->barriers && cell->writer != thread)
            || (store && cell->read_after == group->barriers && cell->reader != thread)) {
            return bad(message, i, PTX_FAILED, "no barrier between the accesses of two threads");
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
    case SHR: return b < 32 ? a >> b : 0;
    case AND: return a & b;
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

/* Runs a thread to its end, or to the next barrier. */
static int run_thread(const struct ptx_entry *entry, const uint64_t *parameters, struct group *group, int thread, ptx_memory memory,
    char *message)
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
    return bad(message, &entry->code[t->at], PTX_TIMEOUT, "a thread does not end");
}

/* Runs the threads of a group in ascending or descending order, each to the next barrier, until all have ended. */
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
                return bad(message, &entry->code[group->threads[n].at - 1], PTX_FAILED, "a barrier is not for all threads");
            }
        }
    }
    return bad(message, &entry->code[group->threads[0].at - 1], PTX_TIMEOUT, "a group does not end");
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
