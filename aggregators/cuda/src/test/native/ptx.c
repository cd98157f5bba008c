#include "code.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    {"ld.global.v2.u32", LD, 3, 4, 0, 2}, {"mov.b32", MOV, 2, 4, 4, 1}, {"shl.b32", SHL, 3, 4, 4, 1},
    {"shr.s32", SHR_S, 3, 4, 4, 1}, {"shr.u32", SHR, 3, 4, 4, 1}, {"and.b32", AND, 3, 4, 4, 1}, {"or.b32", OR, 3, 4, 4, 1},
    {"sub.u32", SUB, 3, 4, 4, 1}, {"min.u32", MIN, 3, 4, 4, 1},
    {"setp.eq.u32", SETP_EQ, 3, 1, 4, 1}, {"mov.f64", MOV, 2, 8, 8, 1}, {"cvt.f64.f32", WIDEN, 2, 8, 4, 1},
    {"cvt.rn.f32.f64", NARROW, 2, 4, 8, 1}, {"setp.gt.f64", SETP_GT_D, 3, 1, 8, 1}, {"selp.f64", SELP, 4, 8, 8, 1},
    {"fma.rn.f64", FMA_D, 4, 8, 8, 1}, {"mul.rn.f64", MUL_D, 3, 8, 8, 1}, {"add.rn.f64", ADD_D, 3, 8, 8, 1},
    {"div.rn.f64", DIV_D, 3, 8, 8, 1}, {"sqrt.rn.f64", SQRT_D, 2, 8, 8, 1},
};

static const char *const SPECIAL[] = {"%tid.x", "%ctaid.x", "%ctaid.y", "%nctaid.x"};

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

/* Reads the next token, which is one character, or a word of letters, digits and the characters ". _ % $". */
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
    *value = word[0] == '0' && word[1] && strchr("fdx", word[1]) ? strtoull(word + 2, &end, 16) : strtoull(word, &end, 10);
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

/* Reads a declaration of registers. For example, .reg .f32 %f<8>; declares %f0 to %f7. */
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
        int index = p->entry->registers;
        char name[NAME];
        snprintf(name, NAME, "%.40s%d", base, (int) i);
        if (find_register(p->entry, name) >= 0) {
            return fail(p, "the register %s is declared twice", name);
        }
        p->entry->registers++;
        memcpy(p->entry->register_names[index], name, NAME);
        p->entry->register_bytes[index] = type_bytes(type);
    }
    return 1;
}

/* Reads the declaration .shared .align 16 .b8 NAME[BYTES]; of the only shared memory of an entry. Its address is 0. */
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

/* Reads an operand: a register, a number, a special register, [register+number], [parameter] or a label. */
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

/* Reads the operands of an instruction. The operands of a vector are in braces. */
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

/*
 * Reads the body of an entry. In PTX, a block in braces has its own scope. Here, all names belong to the entry, so each name must
 * be unique.
 */
static int body(struct parser *p)
{
    char word[NAME];
    struct ptx_entry *entry = p->entry;
    int depth = 1;
    while (depth > 0 && token(p, word)) {
        skip(p);
        if (strcmp(word, "{") == 0 || strcmp(word, "}") == 0) {
            depth += *word == '{' ? 1 : -1;
        } else if (*p->at == ':') {
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
