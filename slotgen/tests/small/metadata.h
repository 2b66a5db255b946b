#ifdef NEED_OPCODE_METADATA
int _PyOpcode_num_popped(int opcode, int oparg)  {
    switch(opcode) {
        case NOP: return 0;
        case CALL:
        case CALL_FAST: return 2 + oparg;
        default: return -1;
    }
}
int _PyOpcode_num_pushed(int opcode, int oparg)  {
    switch(opcode) {
        case NOP: return 0;
        case CALL:
        case CALL_FAST: return 1 + (oparg & 1);
        default: return -1;
    }
}
const struct opcode_metadata _PyOpcode_opcode_metadata[268] = {
    [NOP] = { true, INSTR_FMT_IX, HAS_PURE_FLAG },
    [CALL] = { true, INSTR_FMT_IBC, HAS_ARG_FLAG | HAS_ERROR_FLAG },
    [CALL_FAST] = { true, INSTR_FMT_IBC, HAS_ARG_FLAG },
};
const uint8_t _PyOpcode_Caches[256] = { [CALL] = 3 };
const uint8_t _PyOpcode_Deopt[256] = { [NOP] = NOP, [CALL] = CALL, [CALL_FAST] = CALL };
#endif
