//! Exceptions and messages that generated functions raise: `PyUnicode_FromFormat` as far as messages use it.
use crate::ffi::types;
use crate::names::name;
use crate::semantics::Message;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::ValueId;
use generated::capi::{Argument, CApi};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

impl<'py> Tracer<'py> {
    pub(crate) fn is_instance<T: pyo3::PyTypeInfo>(&mut self, object: ValueId) -> Traced<bool> {
        let class = self.class_of(object)?;
        Ok(types::is_subtype(&class, &self.py.get_type::<T>()))
    }

    pub(crate) fn exception(&mut self, class: ValueId, args: Vec<ValueId>) -> Unwind {
        match self.call(class, Arguments::positional(args)) {
            Ok(exception) => match self.raise_value::<()>(exception) {
                Err(signal) => signal,
                Ok(()) => Unwind::internal("an exception was not raised"),
            },
            Err(signal) => signal,
        }
    }

    /// A slot wrapper (`type.__or__`) bound to a known type is a plain object.
    pub(crate) fn bound_slot_wrapper(&mut self, descriptor: ValueId, object: ValueId) -> Option<Bound<'py, PyAny>> {
        let descriptor = self.known(descriptor)?;
        let object = self.known(object).filter(|object| object.is_instance_of::<PyType>())?;
        let wrapper = descriptor.get_type().name().ok()? == "wrapper_descriptor";
        wrapper.then(|| descriptor.call_method1(name!("__get__"), (object,)).ok()).flatten()
    }

    pub(crate) fn string(&mut self, text: &str) -> ValueId {
        let text = PyString::new(self.py, text).into_any();
        self.constant(text)
    }

    /// This release's words for a message of another release's; where they are not known, the trace ends.
    pub(crate) fn own_words<'a>(&self, format: &'a str) -> Traced<&'a str> {
        let said = |message: &Message| format!("{}: {}", message.format, message.why);
        Message::own_words(format).or_else(|message| unsupported("message of another release", said(message)))
    }

    /// `PyUnicode_FromFormat` for what messages of exceptions use.
    pub(crate) fn format(&mut self, format: &str, args: &[Argument<ValueId>]) -> Traced<String> {
        let format = self.own_words(format)?;
        let mut text = String::new();
        let mut args = args.iter();
        let mut rest = format.chars().peekable();
        while let Some(c) = rest.next() {
            if c != '%' {
                text.push(c);
                continue;
            }
            let mut precision: Option<usize> = None;
            let conversion = loop {
                match rest.next() {
                    Some('.') => precision = Some(0),
                    Some(digit) if digit.is_ascii_digit() => {
                        let digit = digit.to_digit(10).unwrap_or(0) as usize;
                        precision = precision.map(|precision| precision * 10 + digit);
                    }
                    Some('l' | 'z' | 'j' | 't' | 'h' | '-' | '+') => {}
                    other => break other,
                }
            };
            if conversion == Some('%') {
                text.push('%');
                continue;
            }
            let given = args.next();
            if conversion == Some('V') {
                // The text for where there is no object.
                args.next();
            }
            let piece = self.format_piece(conversion, given)?;
            text.extend(piece.chars().take(precision.unwrap_or(usize::MAX)));
        }
        Ok(text)
    }

    pub(crate) fn format_piece(&mut self, conversion: Option<char>, arg: Option<&Argument<ValueId>>) -> Traced<String> {
        match (conversion, arg) {
            (_, Some(Argument::Str(text))) => Ok(text.clone()),
            (Some('d' | 'i' | 'u'), Some(Argument::Int(value))) => Ok(value.to_string()),
            (Some('c'), Some(Argument::Int(value))) => {
                let text = u32::try_from(*value).ok().and_then(char::from_u32);
                text.map_or_else(|| Err(self.unsupported("a character in a format")), |text| Ok(text.to_string()))
            }
            (Some('T'), Some(Argument::Object(object))) => self.full_name_of_class(*object),
            (Some('N'), Some(Argument::Object(class))) => {
                let class = self.type_object(*class)?;
                self.full_name_of(&class)
            }
            (Some('p'), Some(Argument::Object(object))) => match self.same_object(*object) {
                Some(found) if self.owned(*object).is_none() => Ok(format!("{:#x}", found.as_ptr() as usize)),
                _ => Err(self.unsupported("the address of an object of the trace")),
            },
            (Some(conversion), Some(Argument::Object(object))) => {
                let name = match conversion {
                    'R' => "repr",
                    'A' => "ascii",
                    'S' | 'U' | 'V' => "str",
                    _ => return Err(self.unsupported("a conversion in a format")),
                };
                let text = self.call_builtin(name, &[*object])?;
                self.known_str(text).map_or_else(|| unsupported("message of an unknown value", name), Ok)
            }
            other => crate::trace::state::unwind::internal(format!("format of a message: {other:?}")),
        }
    }
}
