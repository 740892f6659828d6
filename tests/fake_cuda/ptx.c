/* A reader and interpreter of the few PTX instructions that small kernels need. What it does not know makes the
   module invalid, so that a kernel that grows is noticed here. */
#include "ptx.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 128, INSTRUCTIONS = 256, LABELS = 32, NAME = 64 };
enum { TID, NTID, CTAID, NCTAID, ONE, ZERO, FIRST_FREE };

typedef enum { MOV, CVT, LD, ST, ADD, SUB, MUL, WIDE, MAD, MADWIDE, FMA, SETP, BRA, RET, SHL, SHR, AND, OR, XOR, MIN, MAX } Operation;
typedef enum { U32, S32, U64, S64, F32, F64, PRED } Type;

typedef struct {
    Operation operation;
    Type type, from;
    char compare[3];
    int to, a, b, c;
    int64_t offset;
    int guard, negated, label;
} Instruction;

struct Kernel {
    char name[NAME];
    int parameters, parameter_slot[MAX_PARAMETERS];
    size_t parameter_bytes[MAX_PARAMETERS];
    int slots, instructions, labels;
    char slot_name[SLOTS][NAME], label_name[LABELS][NAME];
    int label_at[LABELS];
    uint64_t start[SLOTS];
    Instruction code[INSTRUCTIONS];
    struct Kernel *next;
};

static int slot(Kernel *k, const char *name) {
    static const char *special[] = {"%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, special[i])) return i;
    for (int i = FIRST_FREE; i < k->slots; i++)
        if (!strcmp(name, k->slot_name[i])) return i;
    if (k->slots >= SLOTS || strlen(name) >= NAME) return -1;
    strcpy(k->slot_name[k->slots], name);
    if (!strncmp(name, "0f", 2) || !strncmp(name, "0F", 2) || !strncmp(name, "0d", 2))
        k->start[k->slots] = strtoull(name + 2, NULL, 16);
    else if (isdigit((unsigned char)*name) || *name == '-')
        k->start[k->slots] = (uint64_t)strtoll(name, NULL, 0);
    else if (*name != '%' && !isalpha((unsigned char)*name) && *name != '_' && *name != '$')
        return -1;
    return k->slots++;
}

static int label(Kernel *k, const char *name) {
    for (int i = 0; i < k->labels; i++)
        if (!strcmp(name, k->label_name[i])) return i;
    if (k->labels >= LABELS || strlen(name) >= NAME) return -1;
    strcpy(k->label_name[k->labels], name);
    k->label_at[k->labels] = -1;
    return k->labels++;
}

static int type_of(const char *word) {
    static const struct { const char *name; Type type; } all[] = {
        {"u32", U32}, {"s32", S32}, {"b32", U32}, {"u64", U64}, {"s64", S64},
        {"b64", U64}, {"f32", F32}, {"f64", F64}, {"pred", PRED}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(word, all[i].name)) return (int)all[i].type;
    return -1;
}

static size_t width(Type type) { return type == U32 || type == S32 || type == F32 ? 4 : 8; }

static int operation_of(const char *word, int wide) {
    static const struct { const char *name; Operation operation; } all[] = {
        {"mov", MOV}, {"cvta", MOV}, {"cvt", CVT}, {"ld", LD}, {"st", ST}, {"add", ADD}, {"sub", SUB},
        {"mul", MUL}, {"mad", MAD}, {"fma", FMA}, {"setp", SETP}, {"bra", BRA}, {"ret", RET}, {"exit", RET},
        {"shl", SHL}, {"shr", SHR}, {"and", AND}, {"or", OR}, {"xor", XOR}, {"min", MIN}, {"max", MAX}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(word, all[i].name))
            return wide ? (all[i].operation == MUL ? WIDE : MADWIDE) : (int)all[i].operation;
    return -1;
}

/* One instruction without its semicolon; 0 when it is not known. */
static int instruction(Kernel *k, char *text) {
    if (k->instructions >= INSTRUCTIONS) return 0;
    Instruction *i = &k->code[k->instructions];
    *i = (Instruction){.guard = -1, .to = ZERO, .a = ZERO, .b = ZERO, .c = ZERO, .type = U64, .from = U64};
    char *rest, *head = strtok_r(text, " \t\n\r", &rest);
    if (head && *head == '@') {
        i->negated = head[1] == '!';
        i->guard = slot(k, head + 1 + i->negated);
        head = strtok_r(NULL, " \t\n\r", &rest);
    }
    if (!head) return 0;
    int parameter = 0, types = 0, wide = strstr(head, ".wide") != NULL;
    char *part_rest, *part = strtok_r(head, ".", &part_rest);
    int operation = part ? operation_of(part, wide) : -1;
    if (operation < 0) return 0;
    i->operation = (Operation)operation;
    while ((part = strtok_r(NULL, ".", &part_rest))) {
        static const char *meaningless[] = {"to", "global", "lo", "wide", "rn", "rz", "uni", "ftz", "nc", "volatile"};
        int type = type_of(part), known = 0;
        if (type >= 0) {
            if (types++) i->from = (Type)type; else i->type = i->from = (Type)type;
            continue;
        }
        if (!strcmp(part, "param")) { parameter = 1; continue; }
        if (i->operation == SETP && strlen(part) == 2) { strcpy(i->compare, part); continue; }
        for (size_t m = 0; m < sizeof meaningless / sizeof *meaningless; m++) known |= !strcmp(part, meaningless[m]);
        if (!known) return 0;
    }
    int *operands[4] = {&i->to, &i->a, &i->b, &i->c}, count = 0;
    for (char *word = strtok_r(NULL, ", \t\n\r", &rest); word; word = strtok_r(NULL, ", \t\n\r", &rest)) {
        if (count == 4) return 0;
        if (i->operation == BRA) {
            if ((i->label = label(k, word)) < 0) return 0;
            continue;
        }
        if (*word == '[') {
            char *end = strchr(++word, ']'), *plus = strchr(word, '+');
            if (!end) return 0;
            *end = 0;
            if (plus) { *plus = 0; i->offset = strtoll(plus + 1, NULL, 0); }
        }
        if ((*operands[count++] = slot(k, word)) < 0) return 0;
    }
    /* A parameter is a slot that the launch has filled. */
    if (i->operation == LD && parameter) { if (i->offset) return 0; i->operation = MOV; }
    k->instructions++;
    return 1;
}

static void without_comments(char *text) {
    for (char *at = text; *at; at++) {
        if (at[0] == '/' && at[1] == '/') while (*at && *at != '\n') *at++ = ' ';
        else if (at[0] == '/' && at[1] == '*') {
            while (*at && !(at[0] == '*' && at[1] == '/')) *at++ = ' ';
            if (*at) at[0] = at[1] = ' ';
        }
        if (!*at) return;
    }
}

static int parameters(Kernel *k, char *text) {
    char *rest;
    for (char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        char type[8], name[NAME];
        if (sscanf(one, " .param .%7[a-z0-9] %63[A-Za-z0-9_$]", type, name) != 2) return 0;
        int known = type_of(type), at = slot(k, name);
        if (known < 0 || at < 0 || k->parameters >= MAX_PARAMETERS) return 0;
        k->parameter_slot[k->parameters] = at;
        k->parameter_bytes[k->parameters++] = width((Type)known);
    }
    return 1;
}

static int body(Kernel *k, char *text, char *log, size_t log_bytes) {
    char *rest, shown[200];
    for (char *line = strtok_r(text, ";", &rest); line; line = strtok_r(NULL, ";", &rest)) {
        for (;;) {
            line += strspn(line, " \t\r\n{}");
            size_t name = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$");
            if (!name || line[name] != ':') break;
            line[name] = 0;
            int at = label(k, line);
            if (at < 0) return 0;
            k->label_at[at] = k->instructions;
            line += name + 1;
        }
        if (!*line || !strncmp(line, ".reg", 4)) continue;
        snprintf(shown, sizeof shown, "%s", line);
        if (!instruction(k, line)) {
            snprintf(log, log_bytes, "ptxas fatal : the stand-in does not know: %s", shown);
            return 0;
        }
    }
    for (int i = 0; i < k->labels; i++)
        if (k->label_at[i] < 0) { snprintf(log, log_bytes, "no label %s", k->label_name[i]); return 0; }
    return 1;
}

Kernel *ptx_parse(const char *given, char *log, size_t log_bytes) {
    char *text = strdup(given);
    Kernel *list = NULL;
    without_comments(text);
    snprintf(log, log_bytes, "ptxas fatal : no header or no entry");
    if (!strstr(text, ".version") || !strstr(text, ".target") || !strstr(text, ".address_size 64")) return NULL;
    for (char *at = text; (at = strstr(at, ".entry"));) {
        Kernel *k = calloc(1, sizeof *k);
        k->slots = FIRST_FREE;
        k->start[ONE] = 1;
        char *open = strchr(at, '('), *close = open ? strchr(open, ')') : NULL;
        char *begin = close ? strchr(close, '{') : NULL, *end = begin ? strchr(begin, '}') : NULL;
        if (!end || sscanf(at, ".entry %63[A-Za-z0-9_$]", k->name) != 1) return NULL;
        *close = *end = 0;
        if (!parameters(k, open + 1) || !body(k, begin + 1, log, log_bytes)) return NULL;
        k->next = list;
        list = k;
        at = end + 1;
    }
    return list;
}

Kernel *ptx_find(Kernel *list, const char *name) {
    while (list && strcmp(list->name, name)) list = list->next;
    return list;
}

size_t ptx_parameter_bytes(const Kernel *k, int index) { return k->parameter_bytes[index]; }
int ptx_parameters(const Kernel *k) { return k->parameters; }

static float f32(uint64_t bits) { uint32_t low = (uint32_t)bits; float f; memcpy(&f, &low, 4); return f; }
static uint64_t bits32(float f) { uint32_t low; memcpy(&low, &f, 4); return low; }
static int64_t whole(uint64_t bits, Type type) {
    return type == S32 ? (int32_t)bits : type == U32 ? (int64_t)(uint32_t)bits : (int64_t)bits;
}

static int holds(const Instruction *i, uint64_t a, uint64_t b) {
    int less, equal;
    if (i->type == F32) less = f32(a) < f32(b), equal = f32(a) == f32(b);
    else if (i->type == U64) less = a < b, equal = a == b;
    else less = whole(a, i->type) < whole(b, i->type), equal = whole(a, i->type) == whole(b, i->type);
    switch (i->compare[0] << 8 | i->compare[1]) {
    case 'l' << 8 | 't': return less;
    case 'l' << 8 | 'e': return less || equal;
    case 'l' << 8 | 'o': return less;
    case 'g' << 8 | 't': return !less && !equal;
    case 'g' << 8 | 'e': return !less;
    case 'h' << 8 | 's': return !less;
    case 'e' << 8 | 'q': return equal;
    default: return !equal;
    }
}

static uint64_t arithmetic(const Instruction *i, uint64_t a, uint64_t b, uint64_t c) {
    if (i->type == F32) {
        float x = f32(a), y = f32(b);
        switch (i->operation) {
        case ADD: return bits32(x + y);
        case SUB: return bits32(x - y);
        case MUL: return bits32(x * y);
        case MIN: return bits32(fminf(x, y));
        case MAX: return bits32(fmaxf(x, y));
        default: return bits32(fmaf(x, y, f32(c)));
        }
    }
    int64_t x = whole(a, i->type), y = whole(b, i->type);
    uint64_t r = 0;
    switch (i->operation) {
    case ADD: r = a + b; break;
    case SUB: r = a - b; break;
    case MUL: r = a * b; break;
    case MAD: r = a * b + c; break;
    case WIDE: return (uint64_t)(x * y);
    case MADWIDE: return (uint64_t)(x * y) + c;
    case SHL: r = a << (b & 63); break;
    case SHR: r = i->type == S32 || i->type == S64 ? (uint64_t)(x >> (b & 63)) : (uint64_t)x >> (b & 63); break;
    case AND: r = a & b; break;
    case OR: r = a | b; break;
    case XOR: r = a ^ b; break;
    case MIN: r = x < y ? a : b; break;
    case MAX: r = x > y ? a : b; break;
    default: break;
    }
    return width(i->type) == 4 ? (uint32_t)r : r;
}

static uint64_t converted(const Instruction *i, uint64_t a) {
    int64_t n = whole(a, i->from);
    if (i->type == F32) return i->from == F32 ? a : bits32(i->from == U64 ? (float)a : (float)n);
    if (i->from == F32) n = (int64_t)f32(a);
    return width(i->type) == 4 ? (uint32_t)n : (uint64_t)n;
}

static int thread(const Kernel *k, uint64_t *v, void *(*translate)(uint64_t, size_t)) {
    for (int at = 0; at < k->instructions; at++) {
        const Instruction *i = &k->code[at];
        if (i->guard >= 0 && !!v[i->guard] == i->negated) continue;
        switch (i->operation) {
        case RET: return 0;
        case BRA: at = k->label_at[i->label] - 1; break;
        case MOV: v[i->to] = width(i->type) == 4 ? (uint32_t)v[i->a] : v[i->a]; break;
        case CVT: v[i->to] = converted(i, v[i->a]); break;
        case SETP: v[i->to] = (uint64_t)holds(i, v[i->a], v[i->b]); break;
        case LD: case ST: {
            size_t bytes = width(i->type);
            void *memory = translate(v[i->operation == LD ? i->a : i->to] + (uint64_t)i->offset, bytes);
            if (!memory) return -1;
            if (i->operation == ST) memcpy(memory, &v[i->a], bytes);
            else { v[i->to] = 0; memcpy(&v[i->to], memory, bytes); }
            break;
        }
        default: v[i->to] = arithmetic(i, v[i->a], v[i->b], v[i->c]);
        }
    }
    return 0;
}

int ptx_run(const Kernel *k, unsigned grid, unsigned block, const uint64_t *parameters,
            void *(*translate)(uint64_t, size_t)) {
    uint64_t start[SLOTS], v[SLOTS];
    memcpy(start, k->start, sizeof start);
    for (int p = 0; p < k->parameters; p++) start[k->parameter_slot[p]] = parameters[p];
    start[NTID] = block;
    start[NCTAID] = grid;
    for (start[CTAID] = 0; start[CTAID] < grid; start[CTAID]++)
        for (start[TID] = 0; start[TID] < block; start[TID]++) {
            memcpy(v, start, sizeof *v * (size_t)k->slots);
            if (thread(k, v, translate)) return -1;
        }
    return 0;
}
