//! Numbers that `id` gives, and dicts of the trace's own that have them for keys: whether an instruction does the same with them in every process.
//!
//! They may be looked up in such a dict, and compared with each other: which objects are one is the same in every process that the trace is right
//! in. Whatever else is done with them binds the trace to this process.
use crate::bytecode::{Instr, Op};
use crate::ffi::{callee, types};
use crate::stored::{
    is_builtin_function, is_id_function, names_all_arguments, only_moves, sees_variables, tells_process,
};
use crate::trace::run::process_bound::{local_of_cell, stacked, value_at};
use crate::trace::state::frame::Frame;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{
    PyByteArray, PyBytes, PyComplex, PyDict, PyFloat, PyFrozenSet, PyFunction, PyInt, PyList, PyModule, PySet,
    PyString, PyTuple, PyType,
};

/// CPython: `Include/internal/pycore_intrinsics.h`.
const INTRINSIC_LIST_TO_TUPLE: u32 = 6;

/// What an instruction takes, as far as numbers of `id` matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    /// None of them.
    Other,
    /// Such a number; whether the object is the same one wherever the trace is right: no constant, of which there may be several.
    Address { lasting: bool },
    /// A dict of the trace's own with such keys.
    Dict,
    /// A list or tuple with such a dict.
    Holder,
    /// An exception that tells such a number.
    Exception,
}

impl<'py> Tracer<'py> {
    /// Whether the instruction calls `id`, and nothing else happens in it.
    pub(super) fn calls_id(&self, frame: &Frame, instr: &Instr) -> bool {
        if !matches!(instr.op, Op::CALL | Op::PRECALL) || instr.arg != 1 {
            return false;
        }
        let operands: Vec<_> = stacked(frame, instr).iter().filter_map(value_at).collect();
        let [callee, value] = operands.as_slice() else { return false };
        self.object_of(*callee).is_some_and(|callee| is_id_function(&callee))
            && !self.object_of(*value).is_some_and(|value| tells_process(&value))
    }

    /// `id` has given the address of this object.
    pub(crate) fn note_id(&mut self, address: usize, of: ValueId) {
        let lasting = self.is_one_everywhere(of);
        self.state.seen.addresses.insert(address, lasting);
    }

    /// Whether what the instruction does with numbers of `id` may be so in this process alone.
    pub(super) fn tells_ids(&mut self, frame: &Frame, instr: &Instr) -> bool {
        let caught = std::mem::take(&mut self.state.id_dicts.raises);
        let made = std::mem::take(&mut self.state.id_dicts.makes);
        let operands: Vec<_> = stacked(frame, instr).iter().filter_map(value_at).collect();
        self.state.id_dicts.sees_variables |=
            sees_variables(&frame.code, instr, operands.iter().filter_map(|operand| self.object_of(*operand)));
        if self.state.seen.addresses.is_empty() && self.state.ids.is_empty() {
            return false;
        }
        let top = frame.stack.last().and_then(value_at);
        // The instruction before has raised, if the handler begins.
        if caught && instr.op == Op::PUSH_EXC_INFO && top.is_some() {
            self.state.id_dicts.exceptions.extend(top);
        } else if caught {
            return true;
        }
        if made {
            let Some(dict) = top.and_then(|top| self.own_dict(top)) else { return true };
            self.state.id_dicts.dicts.insert(dict.as_ptr() as usize);
        }
        self.state.id_dicts.sees_variables || !self.is_same_everywhere(frame, instr, &operands)
    }

    fn is_same_everywhere(&mut self, frame: &Frame, instr: &Instr, values: &[ValueId]) -> bool {
        let cell = local_of_cell(frame, instr).as_ref().and_then(value_at);
        if let Some(cell) = cell {
            return matches!(self.operand(cell), Operand::Other | Operand::Dict);
        }
        let operands: Vec<_> = values.iter().map(|value| self.operand(*value)).collect();
        if operands.iter().all(|operand| *operand == Operand::Other) || only_moves(instr.op) {
            return true;
        }
        if frame.code.isa().subscription() == (instr.op, instr.arg) || instr.op == Op::BINARY_SUBSCR {
            return self.is_subscription(values);
        }
        let others_or = |allowed: Operand| operands.iter().all(|one| *one == Operand::Other || *one == allowed);
        match (instr.op, values) {
            (Op::PUSH_EXC_INFO | Op::CHECK_EXC_MATCH | Op::POP_EXCEPT | Op::RERAISE, _) => {
                others_or(Operand::Exception)
            }
            (Op::COMPARE_OP, _) if !Self::is_equality(instr.arg) => false,
            (Op::COMPARE_OP, _) => operands.iter().all(|one| *one == Operand::Address { lasting: true }),
            (Op::CONTAINS_OP, [key, container]) => self.is_lookup(*container, *key),
            (Op::STORE_SUBSCR, [_, container, key]) => {
                let takes = operands[0] == Operand::Other && self.is_entry(*key) && self.takes_ids(*container);
                let dict = self.own_dict(*container).filter(|_| takes);
                dict.is_some_and(|dict| {
                    self.state.id_dicts.dicts.insert(dict.as_ptr() as usize);
                    true
                })
            }
            (Op::BUILD_MAP, _) => {
                self.state.id_dicts.makes = true;
                let mut pairs = values.chunks_exact(2).zip(operands.chunks_exact(2));
                pairs.all(|(values, operands)| operands[1] == Operand::Other && self.is_entry(values[0]))
            }
            (Op::BUILD_LIST | Op::BUILD_TUPLE | Op::STORE_DEREF, _) => others_or(Operand::Dict),
            (Op::LIST_EXTEND, [_, items]) => self.operand(*items) == Operand::Other,
            (Op::CALL_INTRINSIC_1, _) if instr.arg != INTRINSIC_LIST_TO_TUPLE => false,
            (Op::LIST_TO_TUPLE | Op::CALL_INTRINSIC_1, _) => others_or(Operand::Holder),
            (Op::LOAD_ATTR | Op::LOAD_METHOD, _) => {
                let name = frame.code.names.get((instr.arg >> frame.code.isa().name_shift(instr.op)) as usize);
                name.is_some_and(|name| &**name == "get") && others_or(Operand::Dict)
            }
            (Op::CALL | Op::PRECALL | Op::CALL_KW | Op::CALL_FUNCTION_EX, [callee, rest @ ..]) => {
                self.is_traceless_call(instr, *callee, rest)
            }
            _ => false,
        }
    }

    /// `dict[key]` for a dict of the trace's own. An exception about a key that is not there tells the key.
    fn is_subscription(&mut self, values: &[ValueId]) -> bool {
        let [container, key] = values else { return false };
        let is_lookup = self.is_lookup(*container, *key);
        let (dict, object) = (self.own_dict(*container), self.object_of(*key));
        let found = dict.zip(object).is_some_and(|(dict, key)| dict.contains(key).unwrap_or(false));
        self.state.id_dicts.raises = !found && !self.is_id(*key);
        is_lookup
    }

    /// Whether a call leaves its operands where the trace sees what becomes of them.
    fn is_traceless_call(&self, instr: &Instr, callee: ValueId, rest: &[ValueId]) -> bool {
        if self.names_its_arguments(callee) {
            let allowed = if instr.op == Op::CALL_FUNCTION_EX { Operand::Holder } else { Operand::Dict };
            let mut passed = rest.iter().chain([&callee]).map(|value| self.operand(*value));
            return passed.all(|operand| operand == Operand::Other || operand == allowed);
        }
        if !matches!(instr.op, Op::CALL | Op::PRECALL) {
            return false;
        }
        let get = match self.method_get(callee) {
            Some(receiver) => Some((receiver, rest)),
            None if self.object_of(callee).is_some_and(|callee| is_dict_get(&callee)) => {
                rest.split_first().map(|(receiver, args)| (*receiver, args))
            }
            None => None,
        };
        match (get, rest) {
            (Some((receiver, [key, default @ ..])), _) => {
                default.iter().all(|value| self.operand(*value) == Operand::Other) && self.is_lookup(receiver, *key)
            }
            (None, [value]) => {
                let asks = |callee: Bound<'py, PyAny>| is_builtin_function(&callee, &["id", "len"]);
                self.operand(*value) == Operand::Dict && self.object_of(callee).is_some_and(asks)
            }
            _ => false,
        }
    }

    /// The dict whose method `get` it is.
    fn method_get(&self, callee: ValueId) -> Option<ValueId> {
        if let Value::New(New::Method { function, receiver }) = self.value(callee) {
            return self.object_of(*function).filter(is_dict_get).map(|_| *receiver);
        }
        let method = self.object_of(callee).filter(|callee| &*callee::name_of(callee) == "get")?;
        let receiver = callee::receiver_of(&method)?;
        self.state.identity.get(&(receiver.as_ptr() as usize)).copied()
    }

    /// Whether a function in Python is called that puts no arguments into a tuple or a dict.
    fn names_its_arguments(&self, callee: ValueId) -> bool {
        match self.value(callee) {
            Value::New(New::Method { function, .. }) => self.names_its_arguments(*function),
            Value::New(New::Function { code, .. }) => names_all_arguments(code.bind(self.py)),
            _ => self.object_of(callee).is_some_and(|callee| {
                callee.is_exact_instance_of::<PyFunction>()
                    && crate::ffi::inspect::function_code(&callee).is_some_and(|code| names_all_arguments(&code))
            }),
        }
    }

    /// Whether a key is looked for in a dict of the trace's own that has no keys but numbers of `id`, texts and bytes.
    fn is_lookup(&self, container: ValueId, key: ValueId) -> bool {
        let is_key = matches!(self.operand(key), Operand::Address { .. }) || self.is_text(key);
        is_key && self.takes_ids(container)
    }

    /// Whether it is such a dict.
    fn takes_ids(&self, container: ValueId) -> bool {
        let Some(dict) = self.own_dict(container) else { return false };
        let is_key = |key: Bound<'py, PyAny>| is_text(&key) || self.is_address(&key);
        self.state.id_dicts.dicts.contains(&(dict.as_ptr() as usize)) || dict.keys().iter().all(is_key)
    }

    /// Whether it may be a key of such a dict.
    fn is_entry(&self, key: ValueId) -> bool {
        self.operand(key) == (Operand::Address { lasting: true }) || self.is_text(key)
    }

    fn is_text(&self, value: ValueId) -> bool {
        self.object_of(value).is_some_and(|object| is_text(&object))
    }

    /// Whether a key of a dict is a number of `id`.
    fn is_address(&self, key: &Bound<'py, PyAny>) -> bool {
        let known = self.state.identity.get(&(key.as_ptr() as usize));
        self.address(key).is_some() || known.is_some_and(|value| self.is_id(*value))
    }

    fn address(&self, object: &Bound<'py, PyAny>) -> Option<bool> {
        let address: usize = object.cast_exact::<PyInt>().ok()?.extract().ok()?;
        self.state.seen.addresses.get(&address).copied()
    }

    fn own_dict(&self, value: ValueId) -> Option<Bound<'py, PyDict>> {
        self.owned(value)?.cast_into_exact::<PyDict>().ok()
    }

    fn operand(&self, value: ValueId) -> Operand {
        if self.is_id(value) {
            let of = self.state.ids.get(&value);
            return Operand::Address { lasting: of.is_some_and(|of| self.is_one_everywhere(*of)) };
        }
        if self.state.id_dicts.exceptions.contains(&value) {
            return Operand::Exception;
        }
        match self.value(value) {
            Value::New(New::Method { receiver, .. }) => return self.operand(*receiver),
            Value::New(New::Tuple(items)) if items.iter().any(|item| self.operand(*item) != Operand::Other) => {
                return Operand::Holder;
            }
            _ => {}
        }
        let Some(object) = self.object_of(value) else { return Operand::Other };
        if let Some(lasting) = self.address(&object) {
            return Operand::Address { lasting };
        }
        let has_ids = |object: &Bound<'py, PyAny>| self.state.id_dicts.dicts.contains(&(object.as_ptr() as usize));
        let holds = match (object.cast_exact::<PyList>(), object.cast_exact::<PyTuple>()) {
            (Ok(list), _) => list.iter().any(|item| has_ids(&item)),
            (_, Ok(tuple)) => tuple.iter().any(|item| has_ids(&item)),
            _ => false,
        };
        match () {
            () if has_ids(&object) || callee::receiver_of(&object).is_some_and(|of| has_ids(&of)) => Operand::Dict,
            () if holds => Operand::Holder,
            () => Operand::Other,
        }
    }

    /// Whether the value is one object in every process that the trace is right in: no constant, of which there may be several.
    fn is_one_everywhere(&self, value: ValueId) -> bool {
        match self.value(value) {
            Value::Node { .. } => true,
            Value::Real { .. } | Value::New(New::Owned(_)) => {
                self.object_of(value).is_some_and(|object| has_identity(&object))
            }
            Value::New(_) => false,
        }
    }
}

fn is_text(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyString>() || object.is_exact_instance_of::<PyBytes>()
}

/// Whether objects of its kind are told apart by what they are, not by their value.
fn has_identity(object: &Bound<'_, PyAny>) -> bool {
    let by_value = object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyComplex>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyFrozenSet>();
    let is_container = object.is_exact_instance_of::<PyList>()
        || object.is_exact_instance_of::<PyDict>()
        || object.is_exact_instance_of::<PySet>()
        || object.is_exact_instance_of::<PyByteArray>();
    let is_definition = object.is_exact_instance_of::<PyFunction>()
        || object.is_exact_instance_of::<PyModule>()
        || object.is_instance_of::<PyType>();
    !by_value && (is_container || is_definition || !types::is_c_type(&object.get_type()))
}

/// Whether it is `dict.get` itself.
fn is_dict_get(callee: &Bound<'_, PyAny>) -> bool {
    types::is_c_class(&callee.get_type(), "method_descriptor")
        && callee::owner_of(callee).is_some_and(|owner| owner.is(callee.py().get_type::<PyDict>()))
        && &*callee::name_of(callee) == "get"
}
