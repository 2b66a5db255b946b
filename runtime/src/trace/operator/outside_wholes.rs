//! Copies of whole containers from outside whose keys are no plain values, and what C makes of two of them: compiled code has C make them.
//!
//! No guard asks what they hold. The length of a copy, and whether it holds a key, are asked of the original. Where the trace looks at
//! more of what C makes, or changes it, it ends.
use crate::ffi::containers::{self, Container, Kind};
use crate::ffi::{callee, key_hashes, types};
use crate::guard::source::Source;
use crate::guard::{Answer, Check, HashedByC, WholeAnswer};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::materialised::Materialised;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use crate::trace::state::wholes::Whole;
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PySet, PyTuple, PyType};

/// Operators that make a container of two, and the methods that C has for them.
const OPERATORS: [(Slot, &str); 4] =
    [(Slot::nb_or, "__or__"), (Slot::nb_and, "__and__"), (Slot::nb_subtract, "__sub__"), (Slot::nb_xor, "__xor__")];

/// Methods that make a container of one or two.
const METHODS: [&str; 5] = ["copy", "union", "intersection", "difference", "symmetric_difference"];

/// Methods of sets that tell how two are to one another.
const RELATIONS: [&str; 3] = ["isdisjoint", "issubset", "issuperset"];

/// The methods of comparisons, as `Py_LT` to `Py_GE` number them.
const COMPARISONS: [&str; 6] = ["__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"];

/// The classes of such containers, as [`New::Opaque`] calls what C makes.
const CLASSES: [&str; 3] = ["set", "frozenset", "dict"];

impl<'py> Tracer<'py> {
    /// What an operator of C makes of such containers; `None`: it is another operation.
    pub(crate) fn whole_by_operator(&mut self, operator: Slot, operands: &[ValueId]) -> Traced<Option<ValueId>> {
        let method = OPERATORS.iter().find(|row| row.0 == operator).map(|row| row.1);
        let of = operands.first().and_then(|first| self.whole_container(*first));
        let Some((method, (_, of))) = method.zip(of) else { return Ok(None) };
        match of.method(method) {
            Ok(method) => self.whole_of(&method, operands),
            Err(_) => Ok(None),
        }
    }

    /// What C says of two such sets; `None`: they are others. `comparison` is `Py_LT` to `Py_GE`.
    pub(crate) fn whole_by_comparison(&mut self, comparison: i32, operands: [ValueId; 2]) -> Traced<Option<ValueId>> {
        let method = usize::try_from(comparison).ok().and_then(|index| COMPARISONS.get(index));
        let Some((method, (_, of))) = method.zip(self.whole_container(operands[0])) else { return Ok(None) };
        match of.method(method) {
            Ok(method) => self.whole_of(&method, &operands),
            Err(_) => Ok(None),
        }
    }

    /// What a method or a class makes of such containers; `None`: it is another call.
    pub(crate) fn whole_by_call(
        &mut self,
        callable: &Bound<'py, PyAny>,
        name: &str,
        args: &Arguments,
        method: bool,
    ) -> Traced<Option<ValueId>> {
        let operands = &args.positional;
        let Some(first) = operands.first().filter(|_| args.keywords.is_empty() && operands.len() <= 2) else {
            return Ok(None);
        };
        let Some((_, of)) = self.whole_container(*first) else { return Ok(None) };
        let makes = match callable.cast::<PyType>() {
            Ok(class) => {
                self.class_of_whole(&types::c_name(class)).is_some_and(|own| own.is(class)) && operands.len() == 1
            }
            Err(_) => {
                method
                    && (METHODS.contains(&name) || RELATIONS.contains(&name))
                    && callee::owner_of(callable).is_some_and(|it| it.is(&of.base))
            }
        };
        if makes { self.whole_of(callable, operands) } else { Ok(None) }
    }

    /// The class of what C makes, by its name.
    pub(crate) fn class_of_whole(&self, name: &str) -> Option<Bound<'py, PyType>> {
        match CLASSES.iter().position(|class| *class == name)? {
            0 => Some(self.py.get_type::<PySet>()),
            1 => Some(self.py.get_type::<PyFrozenSet>()),
            _ => Some(self.py.get_type::<PyDict>()),
        }
    }

    /// The container of which the value is a copy, for what both answer alike; `None`: it is none.
    pub(crate) fn copied_from(&mut self, value: ValueId) -> Traced<Option<ValueId>> {
        let Some(original) = self.state.wholes.get(&value).and_then(Whole::original) else { return Ok(None) };
        self.refuse_changed_entries(original)?;
        Ok(Some(original))
    }

    /// Breaks where C would look into what is made only later.
    pub(crate) fn refuse_whole(&self, value: ValueId, what: &str) -> Traced<()> {
        match self.state.wholes.contains_key(&value) {
            true => unsupported("container made of a whole one from outside", what),
            false => Ok(()),
        }
    }

    /// How compiled code makes it; `None` for other values.
    pub(crate) fn describe_whole(&mut self, id: ValueId) -> Option<Materialised<Vec<ValueId>>> {
        let Whole { callable, args } = self.state.wholes.get(&id)?.clone();
        let children = args.iter().copied().chain([callable]).collect();
        Some(self.set(id, New::Call { callable, args, state: None }, children))
    }

    /// A `dict`, `set` or `frozenset` from outside that the trace has neither copied nor changed.
    fn whole_container(&self, value: ValueId) -> Option<(Bound<'py, PyAny>, Container<'py>)> {
        let copied = self.state.private_copies.of(value).is_some() || self.is_namespace(value);
        let object = self.real(value).filter(|_| !copied && self.source(value).is_some())?;
        let of = containers::of(&object.get_type())?;
        let is_plain = of.base.is(object.get_type()) && matches!(of.kind, Kind::Dict | Kind::Set | Kind::FrozenSet);
        (is_plain && self.class_of_whole(&types::c_name(&of.base)).is_some_and(|class| class.is(&of.base)))
            .then_some((object, of))
    }

    /// The value that an operation of C gives on such containers, of which one has unusual keys.
    fn whole_of(&mut self, operation: &Bound<'py, PyAny>, operands: &[ValueId]) -> Traced<Option<ValueId>> {
        let found: Option<Vec<_>> = operands.iter().map(|operand| self.whole_container(*operand)).collect();
        let Some(found) = found.filter(|_| operands.iter().any(|operand| self.is_unusual(*operand))) else {
            return Ok(None);
        };
        let is_copy = found.len() == 1 && self.copies_entries(operation, found[0].1.kind);
        if !is_copy && !found.iter().all(|(object, _)| HashedByC::all(object)) {
            return Ok(None);
        }
        // C compares keys of one hash where it copies a dict of which entries were deleted.
        let has_keys_of_one_hash =
            |object| key_hashes::all(object).is_some_and(|held| !key_hashes::are_distinct(&held));
        if found.iter().any(|(object, of)| of.kind == Kind::Dict && has_keys_of_one_hash(object)) {
            return Ok(None);
        }
        for operand in operands {
            self.refuse_changed_entries(*operand)?;
            self.class_of(*operand)?;
            if let Some(source) = self.source(*operand).filter(|_| !is_copy) {
                self.guard(source, Check::Domain(Box::new(HashedByC)), "C looks for its keys in another container");
            }
        }
        let objects = PyTuple::new(self.py, found.iter().map(|(object, _)| object));
        let Ok(made) = objects.and_then(|objects| operation.call1(objects)) else { return Ok(None) };
        if made.is(&found[0].0) {
            return Ok(Some(operands[0]));
        }
        if let Some(answer @ Answer::Truth(truth)) = Answer::of(&made) {
            // Dicts compare their values, too.
            if !found.iter().all(|(_, of)| matches!(of.kind, Kind::Set | Kind::FrozenSet)) {
                return Ok(None);
            }
            self.guard_answer_of_sets(operation, answer, operands)?;
            return Ok(Some(self.boolean(truth)));
        }
        let class = made.get_type();
        let named = |name: &&str| self.class_of_whole(name).is_some_and(|own| own.is(&class));
        let Some(name) = CLASSES.into_iter().find(named) else { return Ok(None) };
        let callable = self.constant(operation.clone());
        let value = self.push(Value::New(New::Opaque(name)));
        self.state.wholes.insert(value, Whole { callable, args: operands.to_vec() });
        Ok(Some(value))
    }

    /// How much two sets give together, of which the value is made; `None`: it is made otherwise.
    pub(crate) fn length_of_whole(&mut self, value: ValueId) -> Traced<Option<usize>> {
        let Some(Whole { callable, args }) = self.state.wholes.get(&value).cloned() else { return Ok(None) };
        let objects: Option<Vec<_>> = args.iter().map(|operand| self.real(*operand)).collect();
        let (Some(objects), Some(operation)) = (objects.filter(|all| all.len() == 2), self.real(callable)) else {
            return Ok(None);
        };
        for operand in &args {
            self.refuse_changed_entries(*operand)?;
        }
        let made = PyTuple::new(self.py, objects).and_then(|objects| operation.call1(objects));
        let answer = made.ok().and_then(|made| Answer::of(&made));
        let Some(answer @ Answer::Length(length)) = answer else { return Ok(None) };
        self.guard_answer_of_sets(&operation, answer, &args)?;
        Ok(Some(length))
    }

    fn guard_answer_of_sets(
        &mut self,
        operation: &Bound<'py, PyAny>,
        answer: Answer,
        operands: &[ValueId],
    ) -> Traced<()> {
        let sources: Option<Vec<_>> = operands.iter().map(|operand| self.source(*operand)).collect();
        let Some(sources) = sources else { return internal("a container from outside without a path") };
        let check = Check::Domain(Box::new(WholeAnswer::new(operation, answer)));
        self.guard(Source::Together(sources.into()), check, "the trace asked what C says of two sets");
        Ok(())
    }

    /// Whether C takes over entries with their hashes, and looks for none.
    fn copies_entries(&self, operation: &Bound<'py, PyAny>, kind: Kind) -> bool {
        match operation.cast::<PyType>() {
            Ok(class) => (kind == Kind::Dict) == class.is(self.py.get_type::<PyDict>()),
            Err(_) => true,
        }
    }
}
