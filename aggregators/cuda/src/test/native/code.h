/* The code of an entry function. The parser in ptx.c writes these structures, and the processor in processor.c runs them. */
#ifndef CODE_H
#define CODE_H

#include "ptx.h"

enum { MAX_REGISTERS = 128, MAX_LABELS = 16, MAX_OPERANDS = 8, MAX_THREADS = 256, MAX_CELLS = 2048, NAME = 64 };

enum op {
    LD_PARAM, LD, ST, LD_SHARED, ST_SHARED, MOV, MAD, MUL, MUL_WIDE, ADD, SUB, MIN, SHL, SHR, SHR_S, AND, OR, SETP_GE, SETP_NE,
    SETP_EQ, SETP_EQ_F, SETP_GT_F, SETP_LT_F, SELP, NEG_F, FMA_F, MUL_F, ADD_F, DIV_F, SQRT_F, WIDEN, NARROW, SETP_GT_D, FMA_D,
    MUL_D, ADD_D, DIV_D, SQRT_D, BAR, BRA, RET
};

/* An instruction that the interpreter supports. */
struct opcode {
    const char *name;
    enum op op;
    /* The number of operands, and the sizes of the destination and of the sources in bytes. The size of a predicate is 1. */
    int operands, to, from, vector;
};

/*
 * The special registers: the number of the thread, the numbers of its group in directions x and y, and the number of groups in x.
 */
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

#endif
