//! Operators by their names in the module `operator`.
use crate::domain::Callee;
use crate::ffi::types;
use crate::ffi::types::is_c_type;
use crate::semantics::{abstract_ as protocol, object};
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyType};
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// The functions of `operator` that are operators of the language, with the slot that each one uses.
pub const SLOTS: &[(&str, &str)] = &[
    ("add", "nb_add"),
    ("sub", "nb_subtract"),
    ("mul", "nb_multiply"),
    ("mod", "nb_remainder"),
    ("pow", "nb_power"),
    ("lshift", "nb_lshift"),
    ("rshift", "nb_rshift"),
    ("and_", "nb_and"),
    ("xor", "nb_xor"),
    ("or_", "nb_or"),
    ("floordiv", "nb_floor_divide"),
    ("truediv", "nb_true_divide"),
    ("matmul", "nb_matrix_multiply"),
    ("iadd", "nb_inplace_add"),
    ("isub", "nb_inplace_subtract"),
    ("imul", "nb_inplace_multiply"),
    ("imod", "nb_inplace_remainder"),
    ("ipow", "nb_inplace_power"),
    ("ilshift", "nb_inplace_lshift"),
    ("irshift", "nb_inplace_rshift"),
    ("iand", "nb_inplace_and"),
    ("ixor", "nb_inplace_xor"),
    ("ior", "nb_inplace_or"),
    ("ifloordiv", "nb_inplace_floor_divide"),
    ("itruediv", "nb_inplace_true_divide"),
    ("imatmul", "nb_inplace_matrix_multiply"),
    ("neg", "nb_negative"),
    ("pos", "nb_positive"),
    ("abs", "nb_absolute"),
    ("invert", "nb_invert"),
    ("index", "nb_index"),
    ("getitem", "mp_subscript"),
    ("setitem", "mp_ass_subscript"),
    ("delitem", "mp_ass_subscript"),
    ("lt", "tp_richcompare"),
    ("le", "tp_richcompare"),
    ("eq", "tp_richcompare"),
    ("ne", "tp_richcompare"),
    ("gt", "tp_richcompare"),
    ("ge", "tp_richcompare"),
    ("contains", "sq_contains"),
];

/// The slot of an operator of the language.
fn slot_of(name: &str) -> Option<&'static str> {
    static BY_NAME: OnceLock<FxHashMap<&'static str, &'static str>> = OnceLock::new();
    BY_NAME.get_or_init(|| SLOTS.iter().copied().collect()).get(name).copied()
}

/// How many operands a function of `operator` takes; `None` if it is no operator of the language.
pub fn arity(name: &str) -> Option<usize> {
    match name {
        "not_" | "truth" | "neg" | "pos" | "abs" | "invert" | "index" => Some(1),
        "is_" | "is_not" => Some(2),
        "setitem" => Some(3),
        _ => slot_of(name).map(|_| 2),
    }
}

const COMPARISONS: [&str; 6] = ["lt", "le", "eq", "ne", "gt", "ge"];

/// What a generated function gave: by the C of some releases it can be NULL without an exception.
fn given(value: impl Into<Option<ValueId>>, fault: &str) -> Traced<ValueId> {
    value.into().map_or_else(|| internal(fault), Ok)
}

impl<'py> Tracer<'py> {
    /// `sq_concat`, `sq_inplace_concat`.
    pub(crate) fn concatenate(&mut self, one: ValueId, other: ValueId, in_place: bool) -> Traced<ValueId> {
        let made = match in_place {
            true => protocol::PySequence_InPlaceConcat(self, &one, &other)?,
            false => protocol::PySequence_Concat(self, &one, &other)?,
        };
        given(made, "a concatenation gave NULL")
    }

    /// `sq_repeat`, `sq_inplace_repeat`.
    pub(crate) fn repeat(&mut self, value: ValueId, count: isize, in_place: bool) -> Traced<ValueId> {
        let made = match in_place {
            true => protocol::PySequence_InPlaceRepeat(self, &value, count)?,
            false => protocol::PySequence_Repeat(self, &value, count)?,
        };
        given(made, "a repetition gave NULL")
    }

    /// Performs an operator and notes the way that it took.
    pub(crate) fn operator(&mut self, name: &str, operands: &[ValueId]) -> Traced<ValueId> {
        let outer = std::mem::take(&mut self.state.route);
        let result = self.dispatch_operator(name, operands);
        let functions = std::mem::replace(&mut self.state.route, outer);
        if let Some(place) = self.state.places.last()
            && !functions.is_empty()
        {
            let route = crate::trace::state::outcome::Route {
                file: Arc::clone(&place.file),
                line: place.line,
                op: place.op,
                operator: name.to_owned(),
                functions,
            };
            self.state.routes.push(route);
        }
        result
    }

    fn dispatch_operator(&mut self, name: &str, operands: &[ValueId]) -> Traced<ValueId> {
        match (name, operands) {
            ("eq" | "ne", [a, b]) if self.is_id(*a) || self.is_id(*b) => {
                let same = self.same_id(*a, *b)?;
                return Ok(self.boolean(same == (name == "eq")));
            }
            ("not_", [value]) => {
                let truth = self.is_true(*value)?;
                return Ok(self.boolean(!truth));
            }
            ("truth", [value]) => {
                let truth = self.is_true(*value)?;
                return Ok(self.boolean(truth));
            }
            ("is_", [a, b]) => {
                let same = self.is(*a, *b)?;
                return Ok(self.boolean(same));
            }
            ("is_not", [a, b]) => {
                let same = self.is(*a, *b)?;
                return Ok(self.boolean(!same));
            }
            _ if arity(name) != Some(operands.len()) => {
                return internal(format!("{name} of {} operands", operands.len()));
            }
            _ => {}
        }
        if let Some(unwrapped) = self.behind_proxies(name, operands)? {
            return self.dispatch_operator(name, &unwrapped);
        }
        let mut classes = Vec::with_capacity(operands.len());
        for operand in operands {
            classes.push(self.class_of(*operand)?);
        }
        let Some(slot) = slot_of(name) else {
            return unsupported("operator", name);
        };
        if slot.starts_with("nb_") && operands.len() == 2 {
            return self.binary(name, operands[0], operands[1]);
        }
        // A container decides alone what becomes of its items.
        let asked = if ["getitem", "setitem", "delitem", "contains"].contains(&name) { 1 } else { 2 };
        let domain = classes.iter().take(asked).find_map(|class| self.domain_of(class));
        if let (Some(domain), true, [left, right]) = (&domain, COMPARISONS.contains(&name), operands) {
            return self.domain_comparison(domain, name, (*left, *right), &classes);
        }
        if let Some(domain) = domain {
            return self.domain_operator(&domain, name, slot, operands);
        }
        let decisive = if COMPARISONS.contains(&name) { 2 } else { 1 };
        if classes.iter().take(decisive).all(is_c_type) {
            return self.native_operator(name, operands);
        }
        self.user_operator(name, operands)
    }

    /// `do_richcompare` with an operand of a domain: a constant on the left says `NotImplemented`, and the mirrored operation is asked.
    fn domain_comparison(
        &mut self,
        domain: &std::sync::Arc<dyn crate::domain::Domain>,
        name: &str,
        (left, right): (ValueId, ValueId),
        classes: &[Bound<'py, PyType>],
    ) -> Traced<ValueId> {
        const PROXIED: [(&str, &str); 6] =
            [("lt", "gt"), ("le", "ge"), ("eq", "eq"), ("ne", "ne"), ("gt", "lt"), ("ge", "le")];
        // Classes whose tp_richcompare knows no array, and no scalar but those that are its subclasses, which come first anyway.
        const MODEST: [&str; 8] = ["bool", "int", "float", "str", "bytes", "NoneType", "tuple", "list"];
        let class = types::c_name(&classes[0]);
        let mirrored = PROXIED.iter().find(|(direct, _)| *direct == name).map(|(_, mirrored)| *mirrored);
        // A subclass is asked first, which shows where it takes over calls.
        let is_first = classes.first().zip(classes.get(1)).is_some_and(|(first, second)| {
            !first.is(second) && types::is_subtype(second, first) && domain.takes_over(second)
        });
        let result = match mirrored {
            Some(mirrored) if is_first => self.domain_operator(domain, mirrored, "tp_richcompare", &[right, left])?,
            _ if self.domain_of(&classes[0]).is_some() => {
                self.domain_operator(domain, name, "tp_richcompare", &[left, right])?
            }
            Some(mirrored) if MODEST.contains(&&*class) => {
                self.domain_operator(domain, mirrored, "tp_richcompare", &[right, left])?
            }
            _ => return unsupported("comparison with a graph value", class),
        };
        if self.is_not_implemented(result) && classes[0].is(&classes[1]) && ["eq", "ne"].contains(&name) {
            // The other operand says the same.
            let same = self.is(left, right)?;
            let answer = PyBool::new(self.py, same == (name == "eq")).to_owned().into_any();
            return Ok(self.constant(answer));
        }
        if self.is_not_implemented(result) {
            return unsupported("comparison that a graph value does not implement", class);
        }
        Ok(result)
    }

    fn domain_operator(
        &mut self,
        domain: &std::sync::Arc<dyn crate::domain::Domain>,
        name: &str,
        slot: &'static str,
        operands: &[ValueId],
    ) -> Traced<ValueId> {
        let mut args = operands.to_vec();
        if let Some(which) = COMPARISONS.iter().position(|comparison| *comparison == name) {
            let which = PyInt::new(self.py, which).into_any();
            args.push(self.constant(which));
        }
        self.state.route.push(format!("{}.{slot}", domain.name()).into());
        self.call_domain(domain, Callee::Slot(slot), &args, &[])
    }

    /// Binary operators: the generated `PyNumber_*` functions decide.
    fn binary(&mut self, name: &str, left: ValueId, right: ValueId) -> Traced<ValueId> {
        self.binary_by_slots(name, left, right)
    }

    /// The real operator of C on private objects.
    pub(crate) fn native_operator(&mut self, name: &str, operands: &[ValueId]) -> Traced<ValueId> {
        if let Some(dict) = operands.first().and_then(|view| self.behind_view(*view)) {
            return match name {
                "getitem" | "contains" => self.native_operator(name, &[dict, operands[1]]),
                _ => unsupported("frame of a traceback", format!("{name} of f_locals")),
            };
        }
        if let [left, right] = operands
            && let Some(views) = self.views_for_c([*left, *right])?
        {
            return self.native_operator(name, &views);
        }
        if let Some(result) = self.number_operator(name, operands)? {
            return Ok(result);
        }
        if let Some(result) = self.namespace_operator(name, operands)? {
            return Ok(result);
        }
        if let Some(found) = self.context_operator(name, operands)? {
            return Ok(found);
        }
        if let Some(item) = self.read_container(name, operands)? {
            return Ok(item);
        }
        let changed = match (name, operands) {
            ("setitem", [container, key, value]) => self.change_item(*container, *key, Some(*value))?,
            ("delitem", [container, key]) => self.change_item(*container, *key, None)?,
            _ => false,
        };
        if changed {
            return Ok(self.none());
        }
        if name == "invert" && self.class_of(operands[0])?.is(self.py.get_type::<PyBool>()) {
            return unsupported(
                "operator that warns",
                "~bool: the warning must come each time, where the operator stands",
            );
        }
        if COMPARISONS.contains(&name) {
            operands.iter().try_for_each(|operand| self.copy_with_hashes(*operand))?;
        }
        // An object compared with itself must be one object for C too.
        let receivers = match COMPARISONS.contains(&name) {
            true if self.any_weak(operands) => 0,
            true => 2,
            false => 1,
        };
        let mut natives = Vec::with_capacity(operands.len());
        for (index, operand) in operands.iter().enumerate() {
            natives.push(match index {
                _ if index < receivers => self.receiver(*operand)?,
                2 => self.stored(*operand)?,
                _ => self.native(*operand)?,
            });
        }
        self.note_use(operands);
        // `list[key]`: what C makes of a tuple is not what it makes of something that is none by its flags.
        if name == "getitem" && natives[0].is_instance_of::<PyType>() && natives[1].is_instance_of::<Proxy>() {
            return self.user_operator(name, operands);
        }
        if natives[0].is_instance_of::<Proxy>() {
            let class = self.class_of(operands[0])?;
            let of_class = name == "getitem" && class.is(self.py.get_type::<PyType>());
            if of_class || COMPARISONS.contains(&name) {
                return self.user_operator(name, operands);
            }
            return unsupported("operator on an object from outside", format!("{name} of {}", types::name(&class)));
        }
        let stores = matches!(name, "setitem" | "getitem" | "contains" | "delitem");
        if natives[1..].iter().any(|native| native.is_instance_of::<Proxy>()) && !stores && !COMPARISONS.contains(&name)
        {
            return unsupported("C operator on a symbolic value", name);
        }
        if name == "getitem"
            && let Some(part) = self.part_of_sizes(generated::slots::Slot::mp_subscript, &natives)?
        {
            return Ok(part);
        }
        let function = self.import("operator", name)?;
        self.run_native_as(&function, stores, &natives, &[])
    }

    /// Unary operators, items and comparisons of Python classes: the generated functions decide.
    fn user_operator(&mut self, name: &str, operands: &[ValueId]) -> Traced<ValueId> {
        if let (Some(which), [left, right]) = (COMPARISONS.iter().position(|comparison| *comparison == name), operands)
        {
            let result = object::PyObject_RichCompare(self, Some(left), Some(right), which as i32)?;
            return result.map_or_else(|| internal("a comparison gave nothing"), Ok);
        }
        let done = match (name, operands) {
            ("neg", [value]) => return protocol::PyNumber_Negative(self, value),
            ("pos", [value]) => return protocol::PyNumber_Positive(self, value),
            ("invert", [value]) => return protocol::PyNumber_Invert(self, value),
            ("abs", [value]) => return protocol::PyNumber_Absolute(self, value),
            ("index", [value]) => {
                let index = protocol::PyNumber_Index(self, value)?;
                return given(index, "an index gave nothing");
            }
            ("getitem", [container, key]) => {
                let item = protocol::PyObject_GetItem(self, container, key)?;
                return given(item, "an item gave nothing");
            }
            ("contains", [container, item]) => {
                let found = protocol::PySequence_Contains(self, container, item)?;
                return Ok(self.boolean(found != 0));
            }
            ("setitem", [container, key, value]) => protocol::PyObject_SetItem(self, container, key, value),
            ("delitem", [container, key]) => protocol::PyObject_DelItem(self, container, key),
            _ => return unsupported("operator", name),
        };
        done.map(|_| self.none())
    }

    pub(crate) fn is_not_implemented(&self, value: ValueId) -> bool {
        self.real(value).is_some_and(|object| object.is(self.py.NotImplemented()))
    }

    /// `PySequence_Contains`.
    pub(crate) fn contains(&mut self, container: ValueId, item: ValueId) -> Traced<bool> {
        if let Some(referent) = self.behind_proxy(container)? {
            return self.contains(referent, item);
        }
        let class = self.class_of(container)?;
        if self.domain_of(&class).is_some() {
            return unsupported("search in a graph value", "contains");
        }
        let is_iterator = self.state.generators.contains_key(&container) || self.is_outside_iterator(container);
        if is_c_type(&class) && !is_iterator {
            let result = self.native_operator("contains", &[container, item])?;
            return self.is_true(result);
        }
        protocol::PySequence_Contains(self, &container, &item).map(|found| found != 0)
    }
}
