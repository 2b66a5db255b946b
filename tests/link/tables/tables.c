/* Prints the tables of every release, one row a line, and what bad input gives. */
#include <slotrt_tables.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(slotrt_status status, const char *what)
{
    if (status != SLOTRT_OK) {
        fprintf(stderr, "%s: %s\n", what, slotrt_status_text(status));
        exit(1);
    }
}

static const char *text(const char *value)
{
    return value ? value : "-";
}

static uint32_t count(uint32_t release, int32_t table)
{
    uint32_t rows = 0;
    must(slotrt_count(release, table, &rows), "slotrt_count");
    return rows;
}

static void types(uint32_t release)
{
    for (uint32_t i = 0; i < count(release, SLOTRT_TYPES); i++) {
        slotrt_type type;
        slotrt_slot_masks masks;
        must(slotrt_type_at(release, i, &type), "slotrt_type_at");
        must(slotrt_type_masks(release, i, &masks), "slotrt_type_masks");
        printf("type\t%s\t%s\t%s\t%u\t%u\t%s\t%s\t%s\t%s\t%s\n", type.c_name, type.tp_name, type.file, type.line, type.kind,
               text(type.base), text(type.metatype), type.basicsize, type.itemsize, type.flags);
        printf("masks\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", masks.sequence, masks.mapping, masks.number,
               masks.type_);
        for (uint32_t j = 0; j < type.slots; j++) {
            slotrt_held held;
            slotrt_slot slot;
            must(slotrt_type_slot_at(release, i, j, &held), "slotrt_type_slot_at");
            must(slotrt_slot_at(release, held.slot, &slot), "slotrt_slot_at");
            printf("held\t%s\t%s\t%u\t%s\n", slot.name, held.function, held.origin, text(held.from));
        }
        for (uint32_t j = 0; j < type.methods; j++) {
            slotrt_method method;
            must(slotrt_type_method_at(release, i, j, &method), "slotrt_type_method_at");
            printf("method\t%s\t%s\t%u\t%s\n", method.name, method.function, method.flags, text(method.signature));
        }
        for (uint32_t j = 0; j < type.getsets; j++) {
            slotrt_getset row;
            must(slotrt_type_getset_at(release, i, j, &row), "slotrt_type_getset_at");
            printf("getset\t%s\t%s\t%s\t%s\n", row.name, text(row.get), text(row.set), text(row.closure));
        }
        for (uint32_t j = 0; j < type.members; j++) {
            slotrt_member row;
            must(slotrt_type_member_at(release, i, j, &row), "slotrt_type_member_at");
            printf("member\t%s\t%s\t%s\t%s\n", row.name, row.type_, row.field, row.flags);
        }
    }
}

static void opcodes(uint32_t release)
{
    const uint8_t *caches = slotrt_opcode_caches(release);
    for (uint32_t i = 0; i < count(release, SLOTRT_OPCODES); i++) {
        slotrt_opcode opcode;
        must(slotrt_opcode_at(release, i, &opcode), "slotrt_opcode_at");
        printf("opcode\t%s\t%u\t%u\t%u\t%u\t%u\t%d", opcode.name, opcode.number, opcode.kind, opcode.base, opcode.caches,
               opcode.has_argument, opcode.number < 256 ? caches[opcode.number] : -1);
        for (uint32_t oparg = 0; oparg < 6; oparg++) {
            for (int32_t jump = -1; jump <= 1; jump++) {
                int32_t effect = 0;
                slotrt_status status = slotrt_stack_effect(release, opcode.number, oparg, jump, &effect);
                if (status == SLOTRT_OK)
                    printf("\t%d", effect);
                else if (status == SLOTRT_NOT_KNOWN)
                    printf("\t-");
                else
                    must(status, "slotrt_stack_effect");
            }
        }
        printf("\n");
    }
}

static void structs(uint32_t release)
{
    for (uint32_t i = 0; i < count(release, SLOTRT_STRUCTS); i++) {
        slotrt_struct layout;
        must(slotrt_struct_at(release, i, &layout), "slotrt_struct_at");
        printf("struct\t%s\t%s\t%u\t%u\t%u\n", layout.name, layout.file, layout.line, layout.size, layout.align);
        for (uint32_t j = 0; j < layout.fields; j++) {
            slotrt_field field, again;
            must(slotrt_field_at(release, i, j, &field), "slotrt_field_at");
            must(slotrt_field_find(release, layout.name, field.name, &again), "slotrt_field_find");
            printf("field\t%s\t%s\t%u\t%u\t%u\n", field.name, field.type_, field.offset, field.size, again.offset);
        }
    }
}

static void release(uint32_t series)
{
    for (uint32_t i = 0; i < count(series, SLOTRT_SLOTS); i++) {
        slotrt_slot slot;
        must(slotrt_slot_at(series, i, &slot), "slotrt_slot_at");
        printf("slot\t%s\t%s\t%s\t%u\t%u\n", slot.name, slot.suite, slot.signature, slot.offset, slot.heap_offset);
    }
    for (uint32_t i = 0; i < count(series, SLOTRT_SLOTDEFS); i++) {
        slotrt_slotdef row;
        slotrt_slot slot;
        must(slotrt_slotdef_at(series, i, &row), "slotrt_slotdef_at");
        must(slotrt_slot_at(series, row.slot, &slot), "slotrt_slot_at");
        printf("slotdef\t%s\t%s\t%u\t%s\t%s\t%u\t%zu\n", row.name, slot.name, row.offset, text(row.function), text(row.wrapper),
               row.flags, strlen(row.doc));
    }
    for (uint32_t i = 0; i < count(series, SLOTRT_WRAPPERS); i++) {
        slotrt_wrapper row;
        must(slotrt_wrapper_at(series, i, &row), "slotrt_wrapper_at");
        printf("wrapper\t%s\t%s\t%u\n", row.name, row.signature, row.flags);
    }
    types(series);
    opcodes(series);
    structs(series);
}

#define EXPECT(wanted, call)                                                                          \
    do {                                                                                              \
        slotrt_status found_ = (call);                                                                \
        if (found_ != (wanted)) {                                                                     \
            fprintf(stderr, "%s: %s\n", #call, slotrt_status_text(found_));                           \
            exit(1);                                                                                  \
        }                                                                                             \
    } while (0)

static void bad_input(void)
{
    const uint32_t py = 0x030D, none = 0x0999;
    uint32_t number;
    int32_t effect;
    void *pointer;
    uint64_t value;
    slotrt_type type;
    slotrt_held held;
    slotrt_opcode opcode;
    slotrt_field field;
    slotrt_slot_masks masks;
    slotrt_release row;
    EXPECT(SLOTRT_OUT_OF_RANGE, slotrt_release_at(slotrt_release_count(), &row));
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_release_at(0, NULL));
    EXPECT(SLOTRT_UNKNOWN_RELEASE, slotrt_count(none, SLOTRT_TYPES, &number));
    EXPECT(SLOTRT_BAD_ARGUMENT, slotrt_count(py, 99, &number));
    EXPECT(SLOTRT_BAD_ARGUMENT, slotrt_count(py, -1, &number));
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_count(py, SLOTRT_TYPES, NULL));
    EXPECT(SLOTRT_OUT_OF_RANGE, slotrt_type_at(py, UINT32_MAX, &type));
    EXPECT(SLOTRT_OUT_OF_RANGE, slotrt_type_slot_at(py, 0, UINT32_MAX, &held));
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_type_find(py, NULL, &number));
    EXPECT(SLOTRT_NOT_FOUND, slotrt_type_find(py, "no such type", &number));
    EXPECT(SLOTRT_NOT_FOUND, slotrt_opcode_find(py, "NO_SUCH_OPCODE", &opcode));
    EXPECT(SLOTRT_NOT_FOUND, slotrt_opcode_numbered(py, 100000, &opcode));
    EXPECT(SLOTRT_NOT_FOUND, slotrt_stack_effect(py, 100000, 0, 0, &effect));
    EXPECT(SLOTRT_BAD_ARGUMENT, slotrt_stack_effect(py, 1, 0, 2, &effect));
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_field_find(py, "PyCodeObject", NULL, &field));
    EXPECT(SLOTRT_NOT_FOUND, slotrt_field_find(py, "PyCodeObject", "nothing", &field));
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_get_type_slots(py, NULL, NULL, &masks));
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_frame_get(py, NULL, SLOTRT_FRAME_CODE, &pointer));
    EXPECT(SLOTRT_BAD_ARGUMENT, slotrt_frame_get(py, &number, 99, &pointer));
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_field_get(py, "PyCodeObject", "co_flags", NULL, &value));
    if (slotrt_opcode_caches(none) != NULL || slotrt_has_slot(UINT64_MAX, 64) || !slotrt_has_slot(2, 1))
        exit(1);
    for (int32_t code = -2; code < 100; code++)
        if (slotrt_status_text(code) == NULL)
            exit(1);
}

/* A frame and a code object as the layouts of a release say, in memory of our own. */
static void memory(uint32_t series)
{
    const char *frame_name = series >= 0x030B ? "_PyInterpreterFrame" : "PyFrameObject";
    const char *code_name = series >= 0x030D ? "f_executable" : "f_code";
    unsigned char frame[1024] = {0}, code[1024] = {0}, tuple[64] = {0};
    slotrt_field field;
    void *found;
    uint32_t variables = 0;
    uintptr_t pointer = (uintptr_t)code;
    int32_t three = 3;
    int64_t two = 2;
    must(slotrt_field_find(series, frame_name, code_name, &field), code_name);
    if (strcmp(field.type_, "_PyStackRef") == 0)
        pointer |= 1;
    memcpy(frame + field.offset, &pointer, sizeof pointer);
    if (series >= 0x030B) {
        must(slotrt_field_find(series, "PyCodeObject", "co_nlocalsplus", &field), "co_nlocalsplus");
        memcpy(code + field.offset, &three, sizeof three);
    } else {
        uintptr_t cells = (uintptr_t)tuple;
        memcpy(tuple + 16, &two, sizeof two);
        must(slotrt_field_find(series, "PyCodeObject", "co_cellvars", &field), "co_cellvars");
        memcpy(code + field.offset, &cells, sizeof cells);
        must(slotrt_field_find(series, "PyCodeObject", "co_nlocals", &field), "co_nlocals");
        memcpy(code + field.offset, &(int32_t){1}, sizeof three);
    }
    must(slotrt_field_find(series, frame_name, series >= 0x030B ? "localsplus" : "f_localsplus", &field), "localsplus");
    pointer = (uintptr_t)tuple;
    memcpy(frame + field.offset + 2 * sizeof pointer, &pointer, sizeof pointer);
    must(slotrt_frame_get(series, frame, SLOTRT_FRAME_CODE, &found), "slotrt_frame_get");
    must(slotrt_frame_variable_count(series, frame, &variables), "slotrt_frame_variable_count");
    if (found != code || variables != 3)
        exit(1);
    must(slotrt_frame_variable(series, frame, 2, &found), "slotrt_frame_variable");
    if (found != tuple)
        exit(1);
    must(slotrt_frame_variable(series, frame, 1, &found), "slotrt_frame_variable");
    if (found != NULL)
        exit(1);
    EXPECT(SLOTRT_OUT_OF_RANGE, slotrt_frame_variable(series, frame, 3, &found));
    must(slotrt_frame_get(series, frame, SLOTRT_FRAME_PREVIOUS, &found), "SLOTRT_FRAME_PREVIOUS");
}

int main(void)
{
    if (slotrt_tables_version() != SLOTRT_TABLES_VERSION)
        return 1;
    for (uint32_t i = 0; i < slotrt_release_count(); i++) {
        slotrt_release row;
        must(slotrt_release_at(i, &row), "slotrt_release_at");
        printf("release\t%u\t%s\t%u\n", row.series, row.version, row.from_binary);
        release(row.series);
        memory(row.series);
    }
    bad_input();
    return 0;
}
