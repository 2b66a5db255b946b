//! Pattern matching.
use crate::trace::frame::{Flow, Frame};
use crate::trace::signal::{Traced, unsupported};
use crate::trace::state::Tracer;
use crate::trace::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

impl<'py> Tracer<'py> {
    /// Whether `tp_flags` has `Py_TPFLAGS_SEQUENCE` or `Py_TPFLAGS_MAPPING`.
    pub(super) fn match_flag(&mut self, frame: &mut Frame, flag: u64) -> Traced<Flow> {
        let subject = frame.peek(1)?;
        let class = self.class_of(subject)?;
        let result = self.boolean(crate::ffi::types::flags(&class) & flag != 0);
        frame.push(result);
        Ok(Flow::Next)
    }

    /// `[subject, keys]` → `[subject, keys, values or None]`.
    pub(super) fn match_keys(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let keys = frame.peek(1)?;
        let subject = frame.peek(2)?;
        let keys = self.list_of(keys, None)?;
        let Some(dict) = self.mapping(subject)? else {
            return unsupported("mapping pattern", "the subject is no exact dict");
        };
        let mut values: Vec<ValueId> = Vec::new();
        for key in keys {
            let key = self.native(key)?;
            match dict.get_item(key) {
                Ok(Some(value)) => values.push(self.absorb(value)),
                _ => {
                    let none = self.none();
                    frame.push(none);
                    return Ok(Flow::Next);
                }
            }
        }
        let values = self.tuple(&values)?;
        frame.push(values);
        Ok(Flow::Next)
    }

    /// `[subject, class, names]` → attributes or `None`.
    pub(super) fn match_class(&mut self, frame: &mut Frame, count: u32) -> Traced<Flow> {
        let names = frame.pop()?;
        let class = frame.pop()?;
        let subject = frame.pop()?;
        let names = self.list_of(names, None)?;
        let (Some(class), count) =
            (self.known(class).and_then(|class| class.cast_into::<PyType>().ok()), count as usize)
        else {
            return self.raise("TypeError", "called match pattern must be a class");
        };
        if class.get_type().name().is_ok_and(|name| name != "type") {
            return unsupported("class pattern with a metaclass", "MATCH_CLASS");
        }
        let subject_class = self.class_of(subject)?;
        let mut matches = crate::ffi::types::is_subtype(&subject_class, &class);
        if !matches && let Some(claimed) = self.claimed_class(subject, &subject_class)? {
            matches = crate::ffi::types::is_subtype(&claimed, &class);
        }
        if !matches {
            let none = self.none();
            frame.push(none);
            return Ok(Flow::Next);
        }
        let mut attributes = Vec::new();
        if count > 0 {
            const MATCH_SELF: u64 = 1 << 22;
            if crate::ffi::types::flags(&class) & MATCH_SELF != 0 && count == 1 {
                attributes.push(subject);
            } else {
                let Some(positions) =
                    self.lookup(&class, "__match_args__").and_then(|args| args.cast_into::<PyTuple>().ok())
                else {
                    return unsupported("class pattern without __match_args__", "MATCH_CLASS");
                };
                if positions.len() < count {
                    return unsupported("class pattern with too many positions", "MATCH_CLASS");
                }
                for name in positions.iter().take(count) {
                    match self.get_attr_or_none(subject, &name.to_string())? {
                        Some(value) => attributes.push(value),
                        None => return self.no_match(frame),
                    }
                }
            }
        }
        for name in names {
            let Some(name) = self.known_str(name) else { return unsupported("class pattern", "unknown names") };
            match self.get_attr_or_none(subject, &name)? {
                Some(value) => attributes.push(value),
                None => return self.no_match(frame),
            }
        }
        let attributes = self.tuple(&attributes)?;
        frame.push(attributes);
        Ok(Flow::Next)
    }

    fn no_match(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let none = self.none();
        frame.push(none);
        Ok(Flow::Next)
    }

    /// The attribute, or `None` where reading it raises `AttributeError`.
    pub(in crate::trace) fn get_attr_or_none(&mut self, object: ValueId, name: &str) -> Traced<Option<ValueId>> {
        match self.get_attr(object, name) {
            Ok(value) => Ok(Some(value)),
            Err(crate::trace::signal::Signal::Raised(raised)) => {
                let class = self.class_of(raised)?;
                let wanted = self.import("builtins", "AttributeError")?;
                if class.is_subclass(&wanted).unwrap_or(false) {
                    return Ok(None);
                }
                Err(crate::trace::signal::Signal::Raised(raised))
            }
            Err(other) => Err(other),
        }
    }
}
