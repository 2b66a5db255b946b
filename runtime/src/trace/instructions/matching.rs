//! Pattern matching.
use crate::ffi::{flag, types};
use crate::names::name;
use crate::trace::attribute::descriptors::short_name;
use crate::trace::release;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PySet, PyString, PyTuple, PyType};

impl<'py> Tracer<'py> {
    /// Whether `tp_flags` has `Py_TPFLAGS_SEQUENCE` or `Py_TPFLAGS_MAPPING`.
    pub(crate) fn match_flag(&mut self, frame: &mut Frame, flag: u64) -> Traced<Flow> {
        let subject = frame.peek(1)?;
        let class = self.class_of(subject)?;
        let result = self.boolean(types::has(&class, flag));
        frame.push(result);
        Ok(Flow::Next)
    }

    /// `[subject, keys]` → `[subject, keys, values or None]`. CPython: `match_keys`.
    pub(crate) fn match_keys(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let keys = frame.peek(1)?;
        let subject = frame.peek(2)?;
        let keys = self.list_of(keys, None)?;
        if keys.is_empty() {
            let empty = self.tuple(&[])?;
            frame.push(empty);
            return Ok(Flow::Next);
        }
        let get = self.get_attr(subject, "get")?;
        let absent = self.import("builtins", "object")?.call0().or_else(|error| self.raise_error(error))?;
        let absent = self.own(absent);
        let seen = PySet::empty(self.py).or_else(|error| self.raise_error(error))?;
        let mut values: Vec<ValueId> = Vec::new();
        for key in keys {
            self.refuse_again(&seen, key)?;
            let value = self.call(get, Arguments::positional(vec![key, absent]))?;
            if value == absent {
                return self.no_match(frame);
            }
            values.push(value);
        }
        let values = self.tuple(&values)?;
        frame.push(values);
        Ok(Flow::Next)
    }

    fn refuse_again(&mut self, seen: &Bound<'py, PySet>, key: ValueId) -> Traced<()> {
        let native = self.native(key)?;
        let before = seen.len();
        let added = self.with_callbacks(|| seen.add(native));
        if let Some(signal) = self.state.pending.take() {
            return Err(signal);
        }
        added.or_else(|error| self.raise_error(error))?;
        if seen.len() > before {
            return Ok(());
        }
        let repr = self.call_builtin("repr", &[key])?;
        let repr = self.known_str(repr).unwrap_or_default();
        self.raise("ValueError", format!("mapping pattern checks duplicate key ({repr})"))
    }

    /// `[subject, class, names]` → attributes or `None`. CPython: `match_class`.
    pub(crate) fn match_class(&mut self, frame: &mut Frame, count: u32) -> Traced<Flow> {
        let names = frame.pop()?;
        let pattern = frame.pop()?;
        let subject = frame.pop()?;
        let names = self.list_of(names, None)?;
        let Some(class) = self.known(pattern).and_then(|class| class.cast_into::<PyType>().ok()) else {
            return self.raise("TypeError", release::NO_CLASS_IN_PATTERN);
        };
        let instance = self.call_builtin("isinstance", &[subject, pattern])?;
        if !self.is_true(instance)? {
            return self.no_match(frame);
        }
        let (mut attributes, mut wanted) = (Vec::new(), Vec::new());
        match self.positions(pattern, &class, count as usize)? {
            Some(positions) => wanted.extend(positions),
            None => attributes.push(subject),
        }
        wanted.extend(names);
        let mut seen: Vec<String> = Vec::new();
        for name in wanted {
            let text = self.known(name).filter(|name| name.is_exact_instance_of::<PyString>());
            let Some(text) = text.map(|text| types::text(&text)) else {
                let class = types::name(&self.class_of(name)?);
                return self.raise("TypeError", format!("__match_args__ elements must be strings (got {class})"));
            };
            if seen.contains(&text) {
                let shown = self.py.get_type::<PyString>().call_method1(name!("__repr__"), (&text,));
                let repr = shown.map(|repr| types::text(&repr)).unwrap_or_default();
                let class = short_name(&class);
                return self.raise("TypeError", format!("{class}() got multiple sub-patterns for attribute {repr}"));
            }
            match self.optional_attr(subject, &text)? {
                Some(value) => attributes.push(value),
                None => return self.no_match(frame),
            }
            seen.push(text);
        }
        let attributes = self.tuple(&attributes)?;
        frame.push(attributes);
        Ok(Flow::Next)
    }

    /// The names of the attributes that positional patterns look at; `None`: one, which looks at the subject itself.
    fn positions(
        &mut self,
        pattern: ValueId,
        class: &Bound<'py, PyType>,
        count: usize,
    ) -> Traced<Option<Vec<ValueId>>> {
        if count == 0 {
            return Ok(Some(Vec::new()));
        }
        let names = match self.optional_attr(pattern, "__match_args__")? {
            Some(names) if self.class_of(names)?.is(self.py.get_type::<PyTuple>()) => Some(self.list_of(names, None)?),
            Some(names) => {
                let (owner, got) = (short_name(class), short_name(&self.class_of(names)?));
                return self.raise("TypeError", format!("{owner}.__match_args__ must be a tuple (got {got})"));
            }
            None if types::has(class, flag::MATCH_SELF) => None,
            None => Some(Vec::new()),
        };
        let allowed = names.as_ref().map_or(1, Vec::len);
        if allowed < count {
            let plural = if allowed == 1 { "" } else { "s" };
            let owner = short_name(class);
            let message = format!("{owner}() accepts {allowed} positional sub-pattern{plural} ({count} given)");
            return self.raise("TypeError", message);
        }
        Ok(names.map(|names| names.into_iter().take(count).collect()))
    }

    fn no_match(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let none = self.none();
        frame.push(none);
        Ok(Flow::Next)
    }
}
