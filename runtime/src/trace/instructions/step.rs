//! One arm per operation of the instruction set, without a wildcard; the families are in the files beside this one.

use super::names::locals;
use super::stack::tagged;
use super::{control, stack};
use crate::bytecode::{Instr, Op};
use crate::ffi::flag;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};

impl<'py> Tracer<'py> {
    /// Executes one instruction.
    pub(crate) fn step(&mut self, frame: &mut Frame, instr: &Instr) -> Traced<Flow> {
        let arg = instr.arg;
        match instr.op {
            Op::NOP => tagged(frame, arg),
            Op::NOT_TAKEN | Op::RESUME | Op::CACHE | Op::EXTENDED_ARG | Op::EXIT_INIT_CHECK => Ok(Flow::Next),
            Op::POP_TOP => stack::pop_top(frame),
            Op::POP_ITER => frame.pop_iterator(),
            Op::END_FOR => stack::end_for(frame),
            Op::END_SEND => stack::end_send(frame),
            Op::PUSH_NULL => stack::push_null(frame),
            Op::COPY => stack::copy(frame, arg),
            Op::SWAP => stack::swap(frame, arg),
            Op::LOAD_CONST => self.load_const(frame, arg),
            Op::RETURN_CONST => self.return_const(frame, arg),
            Op::RETURN_VALUE => frame.pop().map(Flow::Return),
            Op::LOAD_FAST | Op::LOAD_FAST_BORROW | Op::LOAD_FAST_CHECK | Op::LOAD_CLOSURE => self.load_fast(frame, arg),
            Op::LOAD_FAST_AND_CLEAR => locals::load_fast_and_clear(frame, arg),
            Op::LOAD_FAST_LOAD_FAST | Op::LOAD_FAST_BORROW_LOAD_FAST_BORROW => self.load_fast_load_fast(frame, arg),
            Op::STORE_FAST => locals::store_fast(frame, arg),
            Op::STORE_FAST_LOAD_FAST => self.store_fast_load_fast(frame, arg),
            Op::STORE_FAST_STORE_FAST => locals::store_fast_store_fast(frame, arg),
            Op::DELETE_FAST => self.delete_fast(frame, arg),
            Op::MAKE_CELL => self.make_cell(frame, arg),
            Op::COPY_FREE_VARS => locals::copy_free_vars(frame, arg),
            Op::LOAD_DEREF => self.load_deref(frame, arg),
            Op::STORE_DEREF => self.store_deref(frame, arg),
            Op::DELETE_DEREF => self.delete_deref(frame, arg),
            Op::LOAD_CLASSDEREF => self.load_classderef(frame, arg),
            Op::LOAD_FROM_DICT_OR_DEREF => self.load_from_dict_or_deref(frame, arg),
            Op::LOAD_GLOBAL => self.load_global(frame, arg),
            Op::STORE_GLOBAL => self.store_global(frame, arg),
            Op::DELETE_GLOBAL => self.delete_global(frame, arg),
            Op::LOAD_NAME => self.load_name(frame, arg),
            Op::LOAD_FROM_DICT_OR_GLOBALS => self.load_from_dict_or_globals(frame, arg),
            Op::STORE_NAME => self.store_name(frame, arg),
            Op::DELETE_NAME => self.delete_name(frame, arg),
            Op::LOAD_LOCALS => self.load_locals(frame),
            Op::SETUP_ANNOTATIONS => self.setup_annotations(frame),
            Op::BINARY_OP => self.binary_op(frame, arg),
            Op::COMPARE_OP => self.compare_op(frame, arg),
            Op::CONTAINS_OP => self.contains_op(frame, arg),
            Op::IS_OP => self.is_op(frame, arg),
            Op::UNARY_INVERT => self.unary(frame, "invert"),
            Op::UNARY_NEGATIVE => self.unary(frame, "neg"),
            Op::UNARY_NOT => self.unary(frame, "not_"),
            Op::UNARY_POSITIVE => self.unary(frame, "pos"),
            Op::TO_BOOL => self.truth_of_top(frame),
            Op::BINARY_SUBSCR => self.binary_subscr(frame),
            Op::STORE_SUBSCR => self.store_subscr(frame),
            Op::DELETE_SUBSCR => self.delete_subscr(frame),
            Op::BINARY_SLICE => self.binary_slice(frame),
            Op::STORE_SLICE => self.store_slice(frame),
            Op::BUILD_TUPLE => self.build_tuple(frame, arg),
            Op::BUILD_LIST => self.build_list(frame, arg),
            Op::BUILD_SET => self.build_set(frame, arg),
            Op::BUILD_MAP => self.build_map(frame, arg),
            Op::BUILD_CONST_KEY_MAP => self.build_const_key_map(frame, arg),
            Op::BUILD_SLICE => self.build_slice(frame, arg),
            Op::LIST_TO_TUPLE => self.list_to_tuple(frame),
            Op::BUILD_STRING => self.build_string(frame, arg),
            Op::LIST_APPEND => self.in_place(frame, arg, "list", "append"),
            Op::LIST_EXTEND => self.list_extend(frame, arg),
            Op::SET_ADD => self.in_place(frame, arg, "set", "add"),
            Op::SET_UPDATE => self.in_place(frame, arg, "set", "update"),
            Op::MAP_ADD => self.map_add(frame, arg),
            Op::DICT_UPDATE => self.dict_update(frame, arg),
            Op::DICT_MERGE => self.dict_merge(frame, arg),
            Op::UNPACK_SEQUENCE => self.unpack_sequence(frame, arg),
            Op::UNPACK_EX => self.unpack_ex(frame, arg),
            Op::FORMAT_SIMPLE => self.format_simple(frame),
            Op::FORMAT_WITH_SPEC => self.format_with_spec(frame),
            Op::FORMAT_VALUE => self.format_value(frame, arg),
            Op::CONVERT_VALUE => self.convert_value(frame, arg),
            Op::LOAD_ATTR => self.load_attr(frame, arg),
            Op::STORE_ATTR => self.store_attr(frame, arg),
            Op::DELETE_ATTR => self.delete_attr(frame, arg),
            Op::LOAD_METHOD => self.load_method(frame, arg),
            Op::LOAD_SUPER_ATTR => self.load_super_attr(frame, arg),
            Op::IMPORT_NAME => self.import_name(frame, arg),
            Op::IMPORT_FROM => self.import_from(frame, arg),
            Op::KW_NAMES | Op::PRECALL => self.call_in_steps(frame),
            Op::CALL => self.call_op(frame, arg),
            Op::CALL_KW => self.call_kw(frame, arg),
            Op::CALL_FUNCTION_EX => self.call_function_ex(frame, arg),
            Op::CALL_INTRINSIC_1 => self.call_intrinsic_1(frame, arg),
            Op::CALL_INTRINSIC_2 => self.call_intrinsic_2(frame, arg),
            Op::LOAD_BUILD_CLASS => self.load_build_class(frame),
            Op::MAKE_FUNCTION => self.make_function(frame, arg),
            Op::SET_FUNCTION_ATTRIBUTE => self.set_function_attribute(frame, arg),
            Op::JUMP_FORWARD | Op::JUMP_BACKWARD | Op::JUMP_BACKWARD_NO_INTERRUPT => control::jump(instr),
            Op::POP_JUMP_IF_TRUE | Op::POP_JUMP_FORWARD_IF_TRUE | Op::POP_JUMP_BACKWARD_IF_TRUE => {
                self.pop_jump_if(frame, instr, true)
            }
            Op::POP_JUMP_IF_FALSE | Op::POP_JUMP_FORWARD_IF_FALSE | Op::POP_JUMP_BACKWARD_IF_FALSE => {
                self.pop_jump_if(frame, instr, false)
            }
            Op::POP_JUMP_IF_NONE | Op::POP_JUMP_FORWARD_IF_NONE | Op::POP_JUMP_BACKWARD_IF_NONE => {
                self.pop_jump_if_none(frame, instr, true)
            }
            Op::POP_JUMP_IF_NOT_NONE | Op::POP_JUMP_FORWARD_IF_NOT_NONE | Op::POP_JUMP_BACKWARD_IF_NOT_NONE => {
                self.pop_jump_if_none(frame, instr, false)
            }
            Op::JUMP_IF_TRUE_OR_POP => self.jump_if_or_pop(frame, instr, true),
            Op::JUMP_IF_FALSE_OR_POP => self.jump_if_or_pop(frame, instr, false),
            Op::GET_ITER => self.get_iter_op(frame, arg > 0),
            Op::FOR_ITER => self.for_iter(frame, instr),
            Op::GET_LEN => self.get_len(frame),
            Op::LOAD_ASSERTION_ERROR => self.load_assertion_error(frame),
            Op::RAISE_VARARGS => self.raise_varargs(frame, arg),
            Op::RERAISE => self.reraise(frame),
            Op::PUSH_EXC_INFO => self.push_exc_info(frame),
            Op::POP_EXCEPT => self.pop_except(frame),
            Op::CHECK_EXC_MATCH => self.check_exc_match(frame),
            Op::PREP_RERAISE_STAR => self.prep_reraise_star_op(frame),
            Op::CHECK_EG_MATCH => self.check_eg_match(frame),
            Op::BEFORE_WITH => self.before_with(frame),
            Op::WITH_EXCEPT_START => self.with_except_start(frame),
            Op::CLEANUP_THROW => self.cleanup_throw(frame),
            Op::RETURN_GENERATOR => self.return_generator(frame),
            Op::ASYNC_GEN_WRAP => self.async_gen_wrap_op(frame),
            Op::YIELD_VALUE => self.yield_value(frame),
            Op::GET_YIELD_FROM_ITER => self.get_yield_from_iter(frame),
            Op::SEND => self.send_op(frame, instr),
            Op::MATCH_SEQUENCE => self.match_flag(frame, flag::SEQUENCE),
            Op::MATCH_MAPPING => self.match_flag(frame, flag::MAPPING),
            Op::MATCH_KEYS => self.match_keys(frame),
            Op::MATCH_CLASS => self.match_class(frame, arg),
            Op::GET_AITER => self.get_aiter(frame),
            Op::GET_ANEXT => self.get_anext(frame),
            Op::GET_AWAITABLE => self.get_awaitable(frame, arg),
            Op::BEFORE_ASYNC_WITH => self.before_async_with(frame),
            Op::END_ASYNC_FOR => self.end_async_for(frame),
            Op::IMPORT_STAR => unsupported("import of all names of a module", "IMPORT_STAR"),
            Op::PRINT_EXPR => unsupported("expression of an interactive session", "PRINT_EXPR"),
            Op::RESERVED | Op::ENTER_EXECUTOR | Op::INTERPRETER_EXIT => {
                unsupported("internal operation", instr.op.name())
            }
            Op::LOAD_SMALL_INT => self.load_small_int(frame, arg),
            Op::LOAD_COMMON_CONSTANT => self.load_common_constant(frame, arg),
            Op::LOAD_SPECIAL => self.load_special(frame, arg),
            Op::BUILD_INTERPOLATION | Op::BUILD_TEMPLATE => unsupported("template string", instr.op.name()),
        }
    }
}
