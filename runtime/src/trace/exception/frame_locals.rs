//! `f_locals` of the frames that a traceback names: the variables while the frame runs, and those that it ended with.
//!
//! CPython: `Objects/frameobject.c`. From 3.13 on the value is a view (`FrameLocalsProxy`); the trace reads it but does not write it.
use crate::bytecode::{Code, LocalKind, flag};
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::Frame;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What [`New::Opaque`] calls the view.
const VIEW: &str = "FrameLocalsProxy";

/// Methods of `dict` that a view has too, and that read.
const READ: [&str; 8] = ["keys", "values", "items", "get", "__len__", "__getitem__", "__contains__", "__iter__"];

impl<'py> Tracer<'py> {
    /// Notes what a frame that a traceback names holds when it rests.
    pub(crate) fn keep_variables(&mut self, frame: &Frame) {
        let kept = (frame.locals.clone(), frame.code.clone());
        self.state.variables.rested.insert(frame.serial, kept);
        if let Some(namespace) = frame.namespace {
            self.state.variables.namespaces.insert(frame.serial, namespace);
        }
    }

    /// The names of a class body that has ended.
    pub(crate) fn rested_namespace(&self, serial: u64) -> Option<ValueId> {
        self.state.variables.namespaces.get(&serial).copied()
    }

    /// What the variables of a frame that has ended hold, by slot.
    pub(crate) fn rested_variables(&self, serial: u64) -> Vec<(usize, ValueId)> {
        let kept = self.state.variables.rested.get(&serial).map(|(locals, _)| locals.as_slice()).unwrap_or_default();
        kept.iter().enumerate().filter_map(|(slot, value)| Some((slot, (*value)?))).collect()
    }

    /// `f_locals` of a frame that has ended or that runs.
    pub(crate) fn frame_variables(&mut self, serial: u64) -> Traced<ValueId> {
        let running = self.state.places.iter().rposition(|place| place.serial == serial);
        let (locals, code) = match running {
            Some(_) if !self.state.track => return Err(Unwind::Track),
            Some(index) => {
                let place = &self.state.places[index];
                let code = place.function.bind(self.py).getattr(name!("__code__"));
                let code = code.or_else(|error| self.raise_error(error))?;
                let code = self.decode(&code)?;
                match self.state.held.get(index) {
                    Some(held) => (held.variables().to_vec(), code),
                    None => return unsupported("frame of a traceback", "f_locals"),
                }
            }
            None => match self.state.variables.rested.get(&serial) {
                Some(kept) => kept.clone(),
                None => return unsupported("frame of a traceback", "f_locals"),
            },
        };
        if code.flags & flag::OPTIMIZED == 0 {
            return unsupported("frame of a traceback", "f_locals of a class or module body");
        }
        let dict = self.variables_dict(&locals, &code)?;
        Ok(self.as_view(dict))
    }

    /// The variables that have values, by name.
    pub(crate) fn variables_dict(&mut self, locals: &[Option<ValueId>], code: &Code) -> Traced<ValueId> {
        let dict = PyDict::new(self.py);
        for (local, value) in code.locals.iter().zip(locals) {
            let Some(value) = *value else { continue };
            let boxed = local.kind.intersects(LocalKind::FREE | LocalKind::CELL);
            let value = if boxed { self.cell_contents(value)? } else { Some(value) };
            let Some(value) = value.filter(|_| !local.name.starts_with('.')) else { continue };
            if dict.contains(&local.name).or_else(|error| self.raise_error(error))? {
                return unsupported("frame of a traceback", "two variables of one name");
            }
            let native = self.native(value)?;
            dict.set_item(&local.name, native).or_else(|error| self.raise_error(error))?;
        }
        Ok(self.own(dict.into_any()))
    }

    /// The view of a frame's variables; up to 3.12 the dict itself.
    fn as_view(&mut self, dict: ValueId) -> ValueId {
        if self.opaque_class(VIEW).is_err() {
            return dict;
        }
        let view = self.push(Value::New(New::Opaque(VIEW)));
        self.state.variables.views.insert(view, dict);
        view
    }

    /// The dict behind a view.
    pub(crate) fn behind_view(&self, value: ValueId) -> Option<ValueId> {
        self.state.variables.views.get(&value).copied()
    }

    /// A method of a view that reads; `None`: something else.
    pub(crate) fn view_method(&mut self, name: &str, args: &Arguments) -> Traced<Option<ValueId>> {
        let Some((dict, rest)) =
            args.positional.split_first().and_then(|(view, rest)| Some((self.behind_view(*view)?, rest)))
        else {
            return Ok(None);
        };
        if !READ.contains(&name) {
            return unsupported("frame of a traceback", format!("f_locals.{name}"));
        }
        let method = self.get_attr(dict, name)?;
        let args = Arguments { positional: rest.to_vec(), keywords: args.keywords.clone(), ..Arguments::default() };
        let result = self.call(method, args)?;
        // What a dict gives as views of its own, this gives as lists.
        match name {
            "keys" | "values" | "items" => {
                let list = self.import("builtins", "list")?;
                let list = self.constant(list);
                self.call(list, Arguments::positional(vec![result])).map(Some)
            }
            _ => Ok(Some(result)),
        }
    }
}
