//! Opcodes of 3.13 for the runtime, until the generated tables take over.
#![allow(missing_docs, non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Op {
    CACHE,
    BEFORE_ASYNC_WITH,
    BEFORE_WITH,
    BINARY_SLICE,
    BINARY_SUBSCR,
    CHECK_EG_MATCH,
    CHECK_EXC_MATCH,
    CLEANUP_THROW,
    DELETE_SUBSCR,
    END_ASYNC_FOR,
    END_FOR,
    END_SEND,
    EXIT_INIT_CHECK,
    FORMAT_SIMPLE,
    FORMAT_WITH_SPEC,
    GET_AITER,
    GET_ANEXT,
    GET_ITER,
    GET_LEN,
    GET_YIELD_FROM_ITER,
    INTERPRETER_EXIT,
    LOAD_ASSERTION_ERROR,
    LOAD_BUILD_CLASS,
    LOAD_LOCALS,
    MAKE_FUNCTION,
    MATCH_KEYS,
    MATCH_MAPPING,
    MATCH_SEQUENCE,
    NOP,
    POP_EXCEPT,
    POP_TOP,
    PUSH_EXC_INFO,
    PUSH_NULL,
    RETURN_GENERATOR,
    RETURN_VALUE,
    SETUP_ANNOTATIONS,
    STORE_SLICE,
    STORE_SUBSCR,
    TO_BOOL,
    UNARY_INVERT,
    UNARY_NEGATIVE,
    UNARY_NOT,
    WITH_EXCEPT_START,
    BINARY_OP,
    BUILD_CONST_KEY_MAP,
    BUILD_LIST,
    BUILD_MAP,
    BUILD_SET,
    BUILD_SLICE,
    BUILD_STRING,
    BUILD_TUPLE,
    CALL,
    CALL_FUNCTION_EX,
    CALL_INTRINSIC_1,
    CALL_INTRINSIC_2,
    CALL_KW,
    COMPARE_OP,
    CONTAINS_OP,
    CONVERT_VALUE,
    COPY,
    COPY_FREE_VARS,
    DELETE_ATTR,
    DELETE_DEREF,
    DELETE_FAST,
    DELETE_GLOBAL,
    DELETE_NAME,
    DICT_MERGE,
    DICT_UPDATE,
    EXTENDED_ARG,
    FOR_ITER,
    GET_AWAITABLE,
    IMPORT_FROM,
    IMPORT_NAME,
    IS_OP,
    JUMP_BACKWARD,
    JUMP_BACKWARD_NO_INTERRUPT,
    JUMP_FORWARD,
    LIST_APPEND,
    LIST_EXTEND,
    LOAD_ATTR,
    LOAD_CONST,
    LOAD_DEREF,
    LOAD_FAST,
    LOAD_FAST_AND_CLEAR,
    LOAD_FAST_CHECK,
    LOAD_FAST_LOAD_FAST,
    LOAD_FROM_DICT_OR_DEREF,
    LOAD_FROM_DICT_OR_GLOBALS,
    LOAD_GLOBAL,
    LOAD_NAME,
    LOAD_SUPER_ATTR,
    MAKE_CELL,
    MAP_ADD,
    MATCH_CLASS,
    POP_JUMP_IF_FALSE,
    POP_JUMP_IF_NONE,
    POP_JUMP_IF_NOT_NONE,
    POP_JUMP_IF_TRUE,
    RAISE_VARARGS,
    RERAISE,
    RETURN_CONST,
    SEND,
    SET_ADD,
    SET_FUNCTION_ATTRIBUTE,
    SET_UPDATE,
    STORE_ATTR,
    STORE_DEREF,
    STORE_FAST,
    STORE_FAST_LOAD_FAST,
    STORE_FAST_STORE_FAST,
    STORE_GLOBAL,
    STORE_NAME,
    SWAP,
    UNPACK_EX,
    UNPACK_SEQUENCE,
    YIELD_VALUE,
    RESUME,
}
pub struct OpFlags;
impl OpFlags {
    pub const ARG: u16 = 1;
    pub const CONST: u16 = 2;
    pub const NAME: u16 = 4;
    pub const JUMP: u16 = 8;
    pub const FREE: u16 = 16;
    pub const LOCAL: u16 = 32;
}
/// name, number, caches, flags
pub const TABLE: &[(Op, &str, u8, u8, u16)] = &[
    (Op::CACHE, "CACHE", 0, 0, 0),
    (Op::BEFORE_ASYNC_WITH, "BEFORE_ASYNC_WITH", 1, 0, 0),
    (Op::BEFORE_WITH, "BEFORE_WITH", 2, 0, 0),
    (Op::BINARY_SLICE, "BINARY_SLICE", 4, 0, 0),
    (Op::BINARY_SUBSCR, "BINARY_SUBSCR", 5, 1, 0),
    (Op::CHECK_EG_MATCH, "CHECK_EG_MATCH", 6, 0, 0),
    (Op::CHECK_EXC_MATCH, "CHECK_EXC_MATCH", 7, 0, 0),
    (Op::CLEANUP_THROW, "CLEANUP_THROW", 8, 0, 0),
    (Op::DELETE_SUBSCR, "DELETE_SUBSCR", 9, 0, 0),
    (Op::END_ASYNC_FOR, "END_ASYNC_FOR", 10, 0, 0),
    (Op::END_FOR, "END_FOR", 11, 0, 0),
    (Op::END_SEND, "END_SEND", 12, 0, 0),
    (Op::EXIT_INIT_CHECK, "EXIT_INIT_CHECK", 13, 0, 0),
    (Op::FORMAT_SIMPLE, "FORMAT_SIMPLE", 14, 0, 0),
    (Op::FORMAT_WITH_SPEC, "FORMAT_WITH_SPEC", 15, 0, 0),
    (Op::GET_AITER, "GET_AITER", 16, 0, 0),
    (Op::GET_ANEXT, "GET_ANEXT", 18, 0, 0),
    (Op::GET_ITER, "GET_ITER", 19, 0, 0),
    (Op::GET_LEN, "GET_LEN", 20, 0, 0),
    (Op::GET_YIELD_FROM_ITER, "GET_YIELD_FROM_ITER", 21, 0, 0),
    (Op::INTERPRETER_EXIT, "INTERPRETER_EXIT", 22, 0, 0),
    (Op::LOAD_ASSERTION_ERROR, "LOAD_ASSERTION_ERROR", 23, 0, 0),
    (Op::LOAD_BUILD_CLASS, "LOAD_BUILD_CLASS", 24, 0, 0),
    (Op::LOAD_LOCALS, "LOAD_LOCALS", 25, 0, 0),
    (Op::MAKE_FUNCTION, "MAKE_FUNCTION", 26, 0, 0),
    (Op::MATCH_KEYS, "MATCH_KEYS", 27, 0, 0),
    (Op::MATCH_MAPPING, "MATCH_MAPPING", 28, 0, 0),
    (Op::MATCH_SEQUENCE, "MATCH_SEQUENCE", 29, 0, 0),
    (Op::NOP, "NOP", 30, 0, 0),
    (Op::POP_EXCEPT, "POP_EXCEPT", 31, 0, 0),
    (Op::POP_TOP, "POP_TOP", 32, 0, 0),
    (Op::PUSH_EXC_INFO, "PUSH_EXC_INFO", 33, 0, 0),
    (Op::PUSH_NULL, "PUSH_NULL", 34, 0, 0),
    (Op::RETURN_GENERATOR, "RETURN_GENERATOR", 35, 0, 0),
    (Op::RETURN_VALUE, "RETURN_VALUE", 36, 0, 0),
    (Op::SETUP_ANNOTATIONS, "SETUP_ANNOTATIONS", 37, 0, 0),
    (Op::STORE_SLICE, "STORE_SLICE", 38, 0, 0),
    (Op::STORE_SUBSCR, "STORE_SUBSCR", 39, 1, 0),
    (Op::TO_BOOL, "TO_BOOL", 40, 3, 0),
    (Op::UNARY_INVERT, "UNARY_INVERT", 41, 0, 0),
    (Op::UNARY_NEGATIVE, "UNARY_NEGATIVE", 42, 0, 0),
    (Op::UNARY_NOT, "UNARY_NOT", 43, 0, 0),
    (Op::WITH_EXCEPT_START, "WITH_EXCEPT_START", 44, 0, 0),
    (Op::BINARY_OP, "BINARY_OP", 45, 1, OpFlags::ARG),
    (Op::BUILD_CONST_KEY_MAP, "BUILD_CONST_KEY_MAP", 46, 0, OpFlags::ARG),
    (Op::BUILD_LIST, "BUILD_LIST", 47, 0, OpFlags::ARG),
    (Op::BUILD_MAP, "BUILD_MAP", 48, 0, OpFlags::ARG),
    (Op::BUILD_SET, "BUILD_SET", 49, 0, OpFlags::ARG),
    (Op::BUILD_SLICE, "BUILD_SLICE", 50, 0, OpFlags::ARG),
    (Op::BUILD_STRING, "BUILD_STRING", 51, 0, OpFlags::ARG),
    (Op::BUILD_TUPLE, "BUILD_TUPLE", 52, 0, OpFlags::ARG),
    (Op::CALL, "CALL", 53, 3, OpFlags::ARG),
    (Op::CALL_FUNCTION_EX, "CALL_FUNCTION_EX", 54, 0, OpFlags::ARG),
    (Op::CALL_INTRINSIC_1, "CALL_INTRINSIC_1", 55, 0, OpFlags::ARG),
    (Op::CALL_INTRINSIC_2, "CALL_INTRINSIC_2", 56, 0, OpFlags::ARG),
    (Op::CALL_KW, "CALL_KW", 57, 0, OpFlags::ARG),
    (Op::COMPARE_OP, "COMPARE_OP", 58, 1, OpFlags::ARG),
    (Op::CONTAINS_OP, "CONTAINS_OP", 59, 1, OpFlags::ARG),
    (Op::CONVERT_VALUE, "CONVERT_VALUE", 60, 0, OpFlags::ARG),
    (Op::COPY, "COPY", 61, 0, OpFlags::ARG),
    (Op::COPY_FREE_VARS, "COPY_FREE_VARS", 62, 0, OpFlags::ARG),
    (Op::DELETE_ATTR, "DELETE_ATTR", 63, 0, OpFlags::ARG | OpFlags::NAME),
    (Op::DELETE_DEREF, "DELETE_DEREF", 64, 0, OpFlags::ARG | OpFlags::FREE),
    (Op::DELETE_FAST, "DELETE_FAST", 65, 0, OpFlags::ARG | OpFlags::LOCAL),
    (Op::DELETE_GLOBAL, "DELETE_GLOBAL", 66, 0, OpFlags::ARG | OpFlags::NAME),
    (Op::DELETE_NAME, "DELETE_NAME", 67, 0, OpFlags::ARG | OpFlags::NAME),
    (Op::DICT_MERGE, "DICT_MERGE", 68, 0, OpFlags::ARG),
    (Op::DICT_UPDATE, "DICT_UPDATE", 69, 0, OpFlags::ARG),
    (Op::EXTENDED_ARG, "EXTENDED_ARG", 71, 0, OpFlags::ARG),
    (Op::FOR_ITER, "FOR_ITER", 72, 1, OpFlags::ARG | OpFlags::JUMP),
    (Op::GET_AWAITABLE, "GET_AWAITABLE", 73, 0, OpFlags::ARG),
    (Op::IMPORT_FROM, "IMPORT_FROM", 74, 0, OpFlags::ARG | OpFlags::NAME),
    (Op::IMPORT_NAME, "IMPORT_NAME", 75, 0, OpFlags::ARG | OpFlags::NAME),
    (Op::IS_OP, "IS_OP", 76, 0, OpFlags::ARG),
    (Op::JUMP_BACKWARD, "JUMP_BACKWARD", 77, 1, OpFlags::ARG | OpFlags::JUMP),
    (Op::JUMP_BACKWARD_NO_INTERRUPT, "JUMP_BACKWARD_NO_INTERRUPT", 78, 0, OpFlags::ARG | OpFlags::JUMP),
    (Op::JUMP_FORWARD, "JUMP_FORWARD", 79, 0, OpFlags::ARG | OpFlags::JUMP),
    (Op::LIST_APPEND, "LIST_APPEND", 80, 0, OpFlags::ARG),
    (Op::LIST_EXTEND, "LIST_EXTEND", 81, 0, OpFlags::ARG),
    (Op::LOAD_ATTR, "LOAD_ATTR", 82, 9, OpFlags::ARG | OpFlags::NAME),
    (Op::LOAD_CONST, "LOAD_CONST", 83, 0, OpFlags::ARG | OpFlags::CONST),
    (Op::LOAD_DEREF, "LOAD_DEREF", 84, 0, OpFlags::ARG | OpFlags::FREE),
    (Op::LOAD_FAST, "LOAD_FAST", 85, 0, OpFlags::ARG | OpFlags::LOCAL),
    (Op::LOAD_FAST_AND_CLEAR, "LOAD_FAST_AND_CLEAR", 86, 0, OpFlags::ARG | OpFlags::LOCAL),
    (Op::LOAD_FAST_CHECK, "LOAD_FAST_CHECK", 87, 0, OpFlags::ARG | OpFlags::LOCAL),
    (Op::LOAD_FAST_LOAD_FAST, "LOAD_FAST_LOAD_FAST", 88, 0, OpFlags::ARG | OpFlags::LOCAL),
    (Op::LOAD_FROM_DICT_OR_DEREF, "LOAD_FROM_DICT_OR_DEREF", 89, 0, OpFlags::ARG | OpFlags::FREE),
    (Op::LOAD_FROM_DICT_OR_GLOBALS, "LOAD_FROM_DICT_OR_GLOBALS", 90, 0, OpFlags::ARG | OpFlags::NAME),
    (Op::LOAD_GLOBAL, "LOAD_GLOBAL", 91, 4, OpFlags::ARG | OpFlags::NAME),
    (Op::LOAD_NAME, "LOAD_NAME", 92, 0, OpFlags::ARG | OpFlags::NAME),
    (Op::LOAD_SUPER_ATTR, "LOAD_SUPER_ATTR", 93, 1, OpFlags::ARG | OpFlags::NAME),
    (Op::MAKE_CELL, "MAKE_CELL", 94, 0, OpFlags::ARG | OpFlags::FREE),
    (Op::MAP_ADD, "MAP_ADD", 95, 0, OpFlags::ARG),
    (Op::MATCH_CLASS, "MATCH_CLASS", 96, 0, OpFlags::ARG),
    (Op::POP_JUMP_IF_FALSE, "POP_JUMP_IF_FALSE", 97, 1, OpFlags::ARG | OpFlags::JUMP),
    (Op::POP_JUMP_IF_NONE, "POP_JUMP_IF_NONE", 98, 1, OpFlags::ARG | OpFlags::JUMP),
    (Op::POP_JUMP_IF_NOT_NONE, "POP_JUMP_IF_NOT_NONE", 99, 1, OpFlags::ARG | OpFlags::JUMP),
    (Op::POP_JUMP_IF_TRUE, "POP_JUMP_IF_TRUE", 100, 1, OpFlags::ARG | OpFlags::JUMP),
    (Op::RAISE_VARARGS, "RAISE_VARARGS", 101, 0, OpFlags::ARG),
    (Op::RERAISE, "RERAISE", 102, 0, OpFlags::ARG),
    (Op::RETURN_CONST, "RETURN_CONST", 103, 0, OpFlags::ARG | OpFlags::CONST),
    (Op::SEND, "SEND", 104, 1, OpFlags::ARG | OpFlags::JUMP),
    (Op::SET_ADD, "SET_ADD", 105, 0, OpFlags::ARG),
    (Op::SET_FUNCTION_ATTRIBUTE, "SET_FUNCTION_ATTRIBUTE", 106, 0, OpFlags::ARG),
    (Op::SET_UPDATE, "SET_UPDATE", 107, 0, OpFlags::ARG),
    (Op::STORE_ATTR, "STORE_ATTR", 108, 4, OpFlags::ARG | OpFlags::NAME),
    (Op::STORE_DEREF, "STORE_DEREF", 109, 0, OpFlags::ARG | OpFlags::FREE),
    (Op::STORE_FAST, "STORE_FAST", 110, 0, OpFlags::ARG | OpFlags::LOCAL),
    (Op::STORE_FAST_LOAD_FAST, "STORE_FAST_LOAD_FAST", 111, 0, OpFlags::ARG | OpFlags::LOCAL),
    (Op::STORE_FAST_STORE_FAST, "STORE_FAST_STORE_FAST", 112, 0, OpFlags::ARG | OpFlags::LOCAL),
    (Op::STORE_GLOBAL, "STORE_GLOBAL", 113, 0, OpFlags::ARG | OpFlags::NAME),
    (Op::STORE_NAME, "STORE_NAME", 114, 0, OpFlags::ARG | OpFlags::NAME),
    (Op::SWAP, "SWAP", 115, 0, OpFlags::ARG),
    (Op::UNPACK_EX, "UNPACK_EX", 116, 0, OpFlags::ARG),
    (Op::UNPACK_SEQUENCE, "UNPACK_SEQUENCE", 117, 1, OpFlags::ARG),
    (Op::YIELD_VALUE, "YIELD_VALUE", 118, 0, OpFlags::ARG),
    (Op::RESUME, "RESUME", 149, 0, OpFlags::ARG),
];
pub fn popped(op: Op, arg: i32) -> i32 {
    match op {
        Op::CACHE
        | Op::LOAD_ASSERTION_ERROR
        | Op::LOAD_BUILD_CLASS
        | Op::LOAD_LOCALS
        | Op::NOP
        | Op::PUSH_NULL
        | Op::RETURN_GENERATOR
        | Op::SETUP_ANNOTATIONS
        | Op::COPY_FREE_VARS
        | Op::DELETE_DEREF
        | Op::DELETE_FAST
        | Op::DELETE_GLOBAL
        | Op::DELETE_NAME
        | Op::EXTENDED_ARG
        | Op::JUMP_BACKWARD
        | Op::JUMP_BACKWARD_NO_INTERRUPT
        | Op::JUMP_FORWARD
        | Op::LOAD_CONST
        | Op::LOAD_DEREF
        | Op::LOAD_FAST
        | Op::LOAD_FAST_AND_CLEAR
        | Op::LOAD_FAST_CHECK
        | Op::LOAD_FAST_LOAD_FAST
        | Op::LOAD_GLOBAL
        | Op::LOAD_NAME
        | Op::MAKE_CELL
        | Op::RETURN_CONST
        | Op::RESUME => 0,
        Op::BEFORE_ASYNC_WITH
        | Op::BEFORE_WITH
        | Op::END_FOR
        | Op::EXIT_INIT_CHECK
        | Op::FORMAT_SIMPLE
        | Op::GET_AITER
        | Op::GET_ANEXT
        | Op::GET_ITER
        | Op::GET_LEN
        | Op::GET_YIELD_FROM_ITER
        | Op::INTERPRETER_EXIT
        | Op::MAKE_FUNCTION
        | Op::MATCH_MAPPING
        | Op::MATCH_SEQUENCE
        | Op::POP_EXCEPT
        | Op::POP_TOP
        | Op::PUSH_EXC_INFO
        | Op::RETURN_VALUE
        | Op::TO_BOOL
        | Op::UNARY_INVERT
        | Op::UNARY_NEGATIVE
        | Op::UNARY_NOT
        | Op::CALL_INTRINSIC_1
        | Op::CONVERT_VALUE
        | Op::DELETE_ATTR
        | Op::FOR_ITER
        | Op::GET_AWAITABLE
        | Op::IMPORT_FROM
        | Op::LOAD_ATTR
        | Op::LOAD_FROM_DICT_OR_DEREF
        | Op::LOAD_FROM_DICT_OR_GLOBALS
        | Op::POP_JUMP_IF_FALSE
        | Op::POP_JUMP_IF_NONE
        | Op::POP_JUMP_IF_NOT_NONE
        | Op::POP_JUMP_IF_TRUE
        | Op::STORE_DEREF
        | Op::STORE_FAST
        | Op::STORE_FAST_LOAD_FAST
        | Op::STORE_GLOBAL
        | Op::STORE_NAME
        | Op::UNPACK_EX
        | Op::UNPACK_SEQUENCE
        | Op::YIELD_VALUE => 1,
        Op::BINARY_SLICE | Op::CLEANUP_THROW | Op::STORE_SUBSCR | Op::LOAD_SUPER_ATTR | Op::MATCH_CLASS => 3,
        Op::BINARY_SUBSCR
        | Op::CHECK_EG_MATCH
        | Op::CHECK_EXC_MATCH
        | Op::DELETE_SUBSCR
        | Op::END_ASYNC_FOR
        | Op::END_SEND
        | Op::FORMAT_WITH_SPEC
        | Op::MATCH_KEYS
        | Op::BINARY_OP
        | Op::CALL_INTRINSIC_2
        | Op::COMPARE_OP
        | Op::CONTAINS_OP
        | Op::IMPORT_NAME
        | Op::IS_OP
        | Op::SEND
        | Op::SET_FUNCTION_ATTRIBUTE
        | Op::STORE_ATTR
        | Op::STORE_FAST_STORE_FAST => 2,
        Op::STORE_SLICE | Op::WITH_EXCEPT_START => 4,
        Op::BUILD_CONST_KEY_MAP | Op::RERAISE => 1 + arg,
        Op::BUILD_LIST | Op::BUILD_SET | Op::BUILD_STRING | Op::BUILD_TUPLE | Op::RAISE_VARARGS => arg,
        Op::BUILD_MAP => arg * 2,
        Op::BUILD_SLICE => 2 + i32::from(arg == 3),
        Op::CALL => 2 + arg,
        Op::CALL_FUNCTION_EX => 3 + (arg & 1),
        Op::CALL_KW => 3 + arg,
        Op::COPY => 1 + (arg - 1),
        Op::DICT_MERGE => 5 + (arg - 1),
        Op::DICT_UPDATE => 2 + (arg - 1),
        Op::LIST_APPEND | Op::LIST_EXTEND | Op::SET_ADD | Op::SET_UPDATE => 2 + (arg - 1),
        Op::MAP_ADD => 3 + (arg - 1),
        Op::SWAP => 2 + (arg - 2),
    }
}
pub fn pushed(op: Op, arg: i32) -> i32 {
    match op {
        Op::CACHE
        | Op::DELETE_SUBSCR
        | Op::END_ASYNC_FOR
        | Op::END_FOR
        | Op::EXIT_INIT_CHECK
        | Op::INTERPRETER_EXIT
        | Op::NOP
        | Op::POP_EXCEPT
        | Op::POP_TOP
        | Op::RETURN_VALUE
        | Op::SETUP_ANNOTATIONS
        | Op::STORE_SLICE
        | Op::STORE_SUBSCR
        | Op::COPY_FREE_VARS
        | Op::DELETE_ATTR
        | Op::DELETE_DEREF
        | Op::DELETE_FAST
        | Op::DELETE_GLOBAL
        | Op::DELETE_NAME
        | Op::EXTENDED_ARG
        | Op::JUMP_BACKWARD
        | Op::JUMP_BACKWARD_NO_INTERRUPT
        | Op::JUMP_FORWARD
        | Op::MAKE_CELL
        | Op::POP_JUMP_IF_FALSE
        | Op::POP_JUMP_IF_NONE
        | Op::POP_JUMP_IF_NOT_NONE
        | Op::POP_JUMP_IF_TRUE
        | Op::RAISE_VARARGS
        | Op::RETURN_CONST
        | Op::STORE_ATTR
        | Op::STORE_DEREF
        | Op::STORE_FAST
        | Op::STORE_FAST_STORE_FAST
        | Op::STORE_GLOBAL
        | Op::STORE_NAME
        | Op::RESUME => 0,
        Op::BEFORE_ASYNC_WITH
        | Op::BEFORE_WITH
        | Op::CHECK_EG_MATCH
        | Op::CHECK_EXC_MATCH
        | Op::CLEANUP_THROW
        | Op::GET_ANEXT
        | Op::GET_LEN
        | Op::MATCH_MAPPING
        | Op::MATCH_SEQUENCE
        | Op::PUSH_EXC_INFO
        | Op::FOR_ITER
        | Op::IMPORT_FROM
        | Op::LOAD_FAST_LOAD_FAST
        | Op::SEND => 2,
        Op::BINARY_SLICE
        | Op::BINARY_SUBSCR
        | Op::END_SEND
        | Op::FORMAT_SIMPLE
        | Op::FORMAT_WITH_SPEC
        | Op::GET_AITER
        | Op::GET_ITER
        | Op::GET_YIELD_FROM_ITER
        | Op::LOAD_ASSERTION_ERROR
        | Op::LOAD_BUILD_CLASS
        | Op::LOAD_LOCALS
        | Op::MAKE_FUNCTION
        | Op::PUSH_NULL
        | Op::RETURN_GENERATOR
        | Op::TO_BOOL
        | Op::UNARY_INVERT
        | Op::UNARY_NEGATIVE
        | Op::UNARY_NOT
        | Op::BINARY_OP
        | Op::BUILD_CONST_KEY_MAP
        | Op::BUILD_LIST
        | Op::BUILD_MAP
        | Op::BUILD_SET
        | Op::BUILD_SLICE
        | Op::BUILD_STRING
        | Op::BUILD_TUPLE
        | Op::CALL
        | Op::CALL_FUNCTION_EX
        | Op::CALL_INTRINSIC_1
        | Op::CALL_INTRINSIC_2
        | Op::CALL_KW
        | Op::COMPARE_OP
        | Op::CONTAINS_OP
        | Op::CONVERT_VALUE
        | Op::GET_AWAITABLE
        | Op::IMPORT_NAME
        | Op::IS_OP
        | Op::LOAD_CONST
        | Op::LOAD_DEREF
        | Op::LOAD_FAST
        | Op::LOAD_FAST_AND_CLEAR
        | Op::LOAD_FAST_CHECK
        | Op::LOAD_FROM_DICT_OR_DEREF
        | Op::LOAD_FROM_DICT_OR_GLOBALS
        | Op::LOAD_NAME
        | Op::MATCH_CLASS
        | Op::SET_FUNCTION_ATTRIBUTE
        | Op::STORE_FAST_LOAD_FAST
        | Op::YIELD_VALUE => 1,
        Op::MATCH_KEYS => 3,
        Op::WITH_EXCEPT_START => 5,
        Op::COPY => 2 + (arg - 1),
        Op::DICT_MERGE => 4 + (arg - 1),
        Op::DICT_UPDATE | Op::MAP_ADD => 1 + (arg - 1),
        Op::LIST_APPEND | Op::LIST_EXTEND | Op::SET_ADD | Op::SET_UPDATE => 1 + (arg - 1),
        Op::LOAD_ATTR | Op::LOAD_GLOBAL | Op::LOAD_SUPER_ATTR => 1 + (arg & 1),
        Op::RERAISE | Op::UNPACK_SEQUENCE => arg,
        Op::SWAP => 2 + (arg - 2),
        Op::UNPACK_EX => 1 + (arg >> 8) + (arg & 0xFF),
    }
}
impl Op {
    /// CPython's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        TABLE.iter().find(|row| row.0 == self).map_or("?", |row| row.1)
    }
}
