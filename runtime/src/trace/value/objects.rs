//! From Python objects to values and back: constants, sources, identity, and their guards.
use crate::ffi::referents;
use crate::ffi::types;
use crate::guard::source::Source;
use crate::guard::{Check, Guard, Reason, SameValue, number};
use crate::stored::ProcessBound;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use crate::trace::value::aliases::Alias;
use crate::trace::value::c_values::is_value;
use crate::trace::value::kinds::{is_definition, is_mark, is_scalar, scalar_base};
use crate::trace::value::nans::has_nan;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// Whether nobody outside the trace can see the object: made here, or the private copy of a container from outside.
    pub(crate) fn is_private(&self, object: &Bound<'py, PyAny>) -> bool {
        let Some(id) = self.state.identity.get(&(object.as_ptr() as usize)) else { return false };
        match self.value(*id) {
            Value::New(New::Owned(owned)) => owned.as_ptr() == object.as_ptr(),
            _ => self
                .state
                .private_copies
                .of(*id)
                .is_some_and(|private_copy| private_copy.object.as_ptr() == object.as_ptr()),
        }
    }

    /// Whether the trace made the object, described for the end already or not.
    pub(crate) fn is_made_here(&self, object: &Bound<'py, PyAny>) -> bool {
        let id = self.state.identity.get(&(object.as_ptr() as usize));
        id.is_some_and(|id| matches!(self.value(*id), Value::New(_)))
    }

    /// A value known without any guard: constants of code, results of folding, what hangs off guarded classes.
    pub(crate) fn constant(&mut self, object: Bound<'py, PyAny>) -> ValueId {
        let address = object.as_ptr() as usize;
        if let Some(id) = self.state.identity.get(&address).copied() {
            // A constant is its own source: the same path.
            if !matches!(self.value(id), Value::Real { source: Some(_), .. }) {
                return id;
            }
            match self.alias(&object, id, &Source::constant(&object)) {
                Alias::Same(id) => return id,
                Alias::Apart(first) => return self.apart(first, Value::Real { object: object.unbind(), source: None }),
                Alias::Merge(id) => {
                    if let Value::Real { source: Some(source), .. } = self.value(id) {
                        let (source, check) = (source.clone(), Check::Is(object.unbind()));
                        const WHY: &str = "the object is also reached as a constant";
                        self.guard_once(id, GuardRequest::IS, source, check, WHY);
                    }
                    return id;
                }
            }
        }
        let id = self.push(Value::Real { object: object.clone().unbind(), source: None });
        self.state.identity.insert(address, id);
        self.keep_nans(&object, None);
        id
    }

    /// The answer of a library to a question, known without any guard. What nobody else holds was made for this answer.
    pub(crate) fn told_by_library(&mut self, object: Bound<'py, PyAny>) -> ValueId {
        let is_made = object.is_instance_of::<PyTuple>() || self.answer_anew(&object).is_some();
        let is_fresh = is_made && referents::count(&object) == 1;
        let id = self.constant(object);
        if is_fresh {
            self.state.fresh_answers.insert(id);
        }
        id
    }

    /// The class and the argument that make another object of those with which a library answers anew each time.
    pub(crate) fn answer_anew(&self, object: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyType>, Bound<'py, PyAny>)> {
        self.state.domains.iter().find_map(|domain| domain.makes_anew(object))
    }

    /// A value found at a source. Objects whose identity matters have one handle however they are reached.
    pub(crate) fn sourced(&mut self, object: Bound<'py, PyAny>, source: Source) -> ValueId {
        if matches!(&source, Source::Constant(constant) if constant.0.is(&object))
            || is_within_constant(&object, &source)
        {
            return self.constant(object);
        }
        if is_scalar(&object) && !has_nan(&object) {
            self.note_scheduled(&object, &source);
            return self.push(Value::Real { object: object.unbind(), source: Some(source) });
        }
        let address = object.as_ptr() as usize;
        if let Some(id) = self.state.identity.get(&address).copied() {
            let value = match self.alias(&object, id, &source) {
                Alias::Same(id) => return id,
                Alias::Apart(first) => {
                    return self.apart(first, Value::Real { object: object.unbind(), source: Some(source) });
                }
                Alias::Merge(value) => value,
            };
            let check = match self.value(value) {
                Value::Real { source: Some(path), .. } => Check::SameAs(path.clone()),
                _ => Check::Is(object.unbind()),
            };
            self.guard(source, check, "two paths lead to one object");
            return value;
        }
        let id = self.push(Value::Real { object: object.clone().unbind(), source: Some(source.clone()) });
        self.state.identity.insert(address, id);
        self.keep_nans(&object, Some(&source));
        id
    }

    /// Another value of the object that `first` stands for.
    fn apart(&mut self, first: ValueId, value: Value) -> ValueId {
        let twin = self.push(value);
        self.state.aliases.twins.push((first, twin));
        twin
    }

    /// How to reach the value again; constants are their own source. `None` for what the trace made.
    pub(crate) fn source(&self, id: ValueId) -> Option<Source> {
        match self.value(id) {
            Value::Real { source: Some(source), .. } => Some(source.clone()),
            Value::Real { object, source: None } => Some(Source::constant(object.bind(self.py))),
            Value::Node { .. } | Value::New(_) => None,
        }
    }

    /// The trace has seen what may be otherwise in other processes.
    pub(crate) fn note_bound(&mut self, bound: ProcessBound) {
        let places = &self.state.places;
        self.state.seen.add(bound, || places.last().map(|place| (Arc::clone(&place.file), place.line)));
    }

    pub(crate) fn guard(&mut self, source: Source, check: Check, why: &'static str) {
        self.guard_for(source, check, why, None);
    }

    /// The same, where an operation made it necessary.
    pub(crate) fn guard_for(&mut self, source: Source, check: Check, why: &'static str, operation: Option<Arc<str>>) {
        if Guard::is_settled(&source, &check, self.py) {
            return;
        }
        let place = self.state.places.last().map(|place| (Arc::clone(&place.file), place.line));
        self.state.guards.push(Guard { source, check, reason: Reason { why, operation, place } });
    }

    pub(crate) fn guard_once(
        &mut self,
        id: ValueId,
        what: GuardRequest,
        source: Source,
        check: Check,
        why: &'static str,
    ) {
        if self.state.guard_requests.insert(id, what) {
            self.guard(source, check, why);
        }
    }

    /// The object of a value that is reached over a path.
    fn object_outside(&self, id: ValueId) -> Option<Bound<'py, PyAny>> {
        match self.value(id) {
            Value::Real { object, source: Some(_) } => Some(object.bind(self.py).clone()),
            _ => None,
        }
    }

    fn sourced_object(&self, id: ValueId) -> Option<(Bound<'py, PyAny>, Source)> {
        Some((self.object_outside(id)?, self.source(id)?))
    }

    /// `type(value)`, guarded. CPython: `Py_TYPE`.
    pub(crate) fn class_of(&mut self, id: ValueId) -> Traced<Bound<'py, PyType>> {
        if let Some(object) = self.object_outside(id) {
            let class = object.get_type();
            if self.state.guard_requests.has_any(id, GuardRequest::CLASS) {
                return Ok(class);
            }
            if !self.state.guard_requests.has_any(id, GuardRequest::SAYS_TYPE)
                && let Some(source) = self.source(id)
            {
                let check = Check::TypeIs(class.clone().into_any().unbind());
                self.guard_once(id, GuardRequest::TYPE, source, check, "the trace dispatched on the type");
            }
            if let Some(domain) = self.domain_of(&class)
                && !self.state.guard_requests.has_any(id, GuardRequest::DOMAIN)
                && let Some(source) = self.source(id)
            {
                let check = self.domain_check(&domain, id, &object)?;
                let operation = self.state.numbers.fixed_for(&source);
                let why = match operation {
                    None => "recorded into the graph",
                    Some(_) => "recorded into the graph, its sizes as constants, for no rule says what this gives",
                };
                if self.state.guard_requests.insert(id, GuardRequest::DOMAIN) {
                    self.guard_for(source, Check::Domain(check), why, operation);
                }
            }
            self.state.guard_requests.insert(id, GuardRequest::CLASS);
            return Ok(class);
        }
        match self.value(id) {
            Value::Real { object, .. } | Value::New(New::Owned(object)) => Ok(object.bind(self.py).get_type()),
            Value::Node { kind, .. } => match kind.bind(self.py).cast::<PyType>() {
                Ok(kind) => Ok(kind.clone()),
                Err(_) => unsupported("type of an internal value", "a graph value"),
            },
            Value::New(New::Computed(number)) => Ok(number.hint.bind(self.py).get_type()),
            Value::New(New::Opaque(what)) => self.opaque_class(what),
            Value::New(New::Method { function, .. }) => self.class_of_bound(*function),
            Value::New(other) => unsupported("type of an internal value", format!("{other:?}")),
        }
    }

    /// The type of what binding a function or a descriptor of C gives.
    fn class_of_bound(&self, function: ValueId) -> Traced<Bound<'py, PyType>> {
        let class = match self.value(function) {
            Value::Real { object, .. } => object.bind(self.py).get_type().name().map(|name| types::text(&name)).ok(),
            _ => Some("function".to_owned()),
        };
        let name = match class.as_deref() {
            Some("wrapper_descriptor") => "MethodWrapperType",
            Some("method_descriptor" | "classmethod_descriptor") => "BuiltinMethodType",
            _ => "MethodType",
        };
        let class = self.import("types", name)?;
        class.cast_into().or_else(|_| crate::trace::state::unwind::internal("types of bound methods"))
    }

    /// Whether an earlier call had another tuple there, or the next step of a loop has other numbers in it: then what is read of it is told
    /// item by item.
    fn is_taken_apart(&self, id: ValueId, object: &Bound<'py, PyAny>) -> bool {
        let Ok(tuple) = object.cast_exact::<PyTuple>() else { return false };
        let holds_number = || tuple.iter().any(|item| number(&item).is_some());
        self.source(id).is_some_and(|source| {
            let numbers = &self.state.numbers;
            numbers.is_changing(&source) && (numbers.changing.keys.contains(&source.key()) || holds_number())
        })
    }

    /// The object, if it is immutable and known; guards that it is the same next time.
    pub(crate) fn known(&mut self, id: ValueId) -> Option<Bound<'py, PyAny>> {
        if let Some(object) = self.object_outside(id) {
            if self.state.guard_requests.has_any(id, GuardRequest::KNOWN) {
                return Some(object);
            }
            let scalar = is_scalar(&object);
            if !scalar && !is_definition(&object) || self.is_taken_apart(id, &object) {
                return None;
            }
            self.state.guard_requests.insert(id, GuardRequest::KNOWN);
            if self.state.guard_requests.has_any(id, GuardRequest::EQUALS | GuardRequest::IS) {
                return Some(object);
            }
            let source = self.source(id)?;
            if scalar {
                let check = Check::Equals(object.clone().unbind());
                self.guard_once(id, GuardRequest::EQUALS, source, check, "the trace is specialised for this value");
            } else {
                let check = Check::Is(object.clone().unbind());
                self.guard_once(id, GuardRequest::IS, source, check, "the trace is specialised for this object");
                self.keep_nans_of_set(&object);
            }
            return Some(object);
        }
        match self.value(id) {
            Value::Real { object, .. } => {
                let object = object.bind(self.py).clone();
                if self.state.guard_requests.has_any(id, GuardRequest::KNOWN) {
                    return Some(object);
                }
                let frozen = object.is_exact_instance_of::<pyo3::types::PyFrozenSet>()
                    || object.is_exact_instance_of::<pyo3::types::PySlice>()
                    || object.is_exact_instance_of::<pyo3::types::PyRange>();
                let known = is_scalar(&object) || is_definition(&object) || frozen;
                known.then(|| {
                    self.state.guard_requests.insert(id, GuardRequest::KNOWN);
                    object
                })
            }
            Value::New(New::Owned(object)) => {
                let object = object.bind(self.py).clone();
                (is_scalar(&object) || object.is_instance_of::<PyType>()).then_some(object)
            }
            Value::New(New::Computed(_)) => self.known_computed(id),
            _ => None,
        }
    }

    /// Guards that the value is this object, which lives on.
    pub(crate) fn rely_on_identity(&mut self, id: ValueId, object: Bound<'py, PyAny>) {
        if let Some(source) = self.source(id) {
            let check = Check::Is(object.unbind());
            self.guard_once(id, GuardRequest::IS, source, check, "the trace is specialised for this object");
        }
    }

    /// The object whose address C may hash: one that guards know by identity, and, while C asks, one of the trace's own. `None` for one
    /// that a guard would keep alive: guards refer to objects weakly, where that can be done.
    pub(crate) fn same_object(&mut self, id: ValueId) -> Option<Bound<'py, PyAny>> {
        if self.state.nesting > 0
            && let Some(owned) = self.owned(id)
        {
            self.state.hashed_own += 1;
            return Some(owned);
        }
        if let Some((object, source)) = self.sourced_object(id) {
            let weak = types::weaklistoffset(&object.get_type()) != 0;
            let held_otherwise = scalar_base(&object.get_type()).is_some()
                || is_definition(&object)
                || is_value(&object)
                || is_mark(&object);
            let refused = || source.is_given() || crate::trace::value::finalisable::leads_to_code(&object);
            if !held_otherwise && !weak && refused() {
                return None;
            }
            let check = Check::Is(object.clone().unbind());
            self.guard_once(id, GuardRequest::IS, source, check, "the trace hashed the object's address");
            return Some(object);
        }
        self.real(id)
    }

    /// The object itself, if what C knows of it never changes: of a class that derives from `int`, `str` and the like, or a value or mark of C.
    pub(crate) fn unchanging(&mut self, id: ValueId) -> Traced<Option<Bound<'py, PyAny>>> {
        let class = self.class_of(id)?;
        let is_opaque = |object: &Bound<'py, PyAny>| self.state.domains.iter().any(|domain| domain.is_opaque(object));
        let fixed = scalar_base(&class).is_some()
            || self.real(id).is_some_and(|object| is_value(&object) || is_mark(&object) || is_opaque(&object));
        Ok(match fixed {
            true => self.same_value(id).or_else(|| self.same_object(id)),
            false => None,
        })
    }

    /// An object from outside whose value C alone looks at; `None`: its identity tells its value.
    fn same_value(&mut self, id: ValueId) -> Option<Bound<'py, PyAny>> {
        let (object, source) = self.sourced_object(id)?;
        let is_known = self.state.guard_requests.has_any(id, GuardRequest::VALUE | GuardRequest::IS);
        let own = self.state.nesting > 0 && self.owned(id).is_some();
        if own || !is_value(&object) {
            return None;
        }
        if !is_known {
            let check = Check::Domain(Box::new(SameValue::of(&object)?));
            self.guard_once(id, GuardRequest::VALUE, source, check, "the trace is specialised for this value");
        }
        Some(object)
    }

    /// A known `str`.
    pub(crate) fn known_str(&mut self, id: ValueId) -> Option<String> {
        self.known(id)?.cast::<PyString>().ok()?.to_str().ok().map(String::from)
    }

    /// The values, where each is a known scalar.
    pub(crate) fn known_scalars(&mut self, values: &[ValueId]) -> Option<Vec<Bound<'py, PyAny>>> {
        values.iter().map(|value| self.known(*value).filter(is_scalar)).collect()
    }
}

/// Whether the source leads to an item of a constant tuple, which never changes: from 3.14 on constants of code hold slices.
fn is_within_constant(object: &Bound<'_, PyAny>, source: &Source) -> bool {
    let Source::Item(base, index) = source else { return false };
    let Source::Constant(constant) = &**base else { return false };
    let tuple = constant.0.bind(object.py()).cast_exact::<PyTuple>();
    tuple.is_ok_and(|tuple| tuple.get_item(*index).is_ok_and(|item| item.is(object)))
}
