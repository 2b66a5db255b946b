//! What macros tell of an object, and members of C's structs that an attribute of the class shows: translated bodies ask for them by name.
use crate::ffi::types;
use crate::guard::{Check, DomainCheck, NullMember};
use crate::live::{checks, globals};
use crate::names::interned;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use generated::calls::Value;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Member, class, attribute of that class; then whether C tells NULL and `None` apart there, which the attribute does not.
const FIELDS: &[(&str, &str, &str, bool)] = &[
    ("PyBaseExceptionGroupObject_excs", "PyExc_BaseExceptionGroup", "exceptions", false),
    ("PyBaseExceptionGroupObject_msg", "PyExc_BaseExceptionGroup", "message", false),
    ("PyBaseExceptionObject_args", "PyExc_BaseException", "args", false),
    ("PyImportErrorObject_msg", "PyExc_ImportError", "msg", true),
    ("PyOSErrorObject_args", "PyExc_BaseException", "args", false),
    ("PyOSErrorObject_filename", "PyExc_OSError", "filename", true),
    ("PyOSErrorObject_filename2", "PyExc_OSError", "filename2", true),
    ("PyOSErrorObject_myerrno", "PyExc_OSError", "errno", true),
    ("PyOSErrorObject_strerror", "PyExc_OSError", "strerror", true),
    ("PySyntaxErrorObject_filename", "PyExc_SyntaxError", "filename", true),
    ("PySyntaxErrorObject_lineno", "PyExc_SyntaxError", "lineno", true),
    ("PySyntaxErrorObject_msg", "PyExc_SyntaxError", "msg", true),
];

const AMBIGUOUS: &str = "member of an object of C that is None or nothing";

impl Tracer<'_> {
    /// What a macro tells of an object, or a member of it holds; `None`: this world does not know it by that name.
    pub(super) fn told_by_name(&mut self, name: &'static str, object: ValueId) -> Traced<Option<Value<ValueId>>> {
        let Some((stem, exact)) = checks::checked(name) else { return self.field(name, object) };
        let class = self.class_of(object)?;
        let known = checks::types(stem).unwrap_or_default().iter().filter_map(|name| globals::class(self.py, name));
        let mut known = known.filter_map(|known| known.cast_into::<PyType>().ok()).peekable();
        if known.peek().is_none() {
            return Ok(None);
        }
        let passes = known.any(|known| if exact { class.is(&known) } else { types::is_subtype(&class, &known) });
        self.state.stood_in.test(name, &class);
        Ok(Some(Value::Int(i128::from(passes))))
    }

    /// What a member holds.
    fn field(&mut self, name: &'static str, object: ValueId) -> Traced<Option<Value<ValueId>>> {
        let Some((_, holder, attribute, has_null)) = FIELDS.iter().find(|row| row.0 == name) else { return Ok(None) };
        let holder = globals::class(self.py, holder).and_then(|holder| holder.cast_into::<PyType>().ok());
        let Some(descriptor) = holder.and_then(|holder| types::lookup(&holder, &interned(self.py, attribute))) else {
            return Ok(None);
        };
        let class = self.class_of(object)?;
        let value = self.read_descriptor(descriptor, object, &class, attribute)?;
        if !*has_null || !self.is_none(value)? {
            return Ok(Some(Value::Object(value)));
        }
        let (Some(real), Some(source), true) = (self.real(object), self.source(object), self.source(value).is_some())
        else {
            return unsupported(AMBIGUOUS, *attribute);
        };
        let null = NullMember(name.to_owned());
        if !null.holds(&real) {
            return unsupported(AMBIGUOUS, *attribute);
        }
        self.guard(source, Check::Domain(Box::new(null)), "the trace asked whether it is NULL");
        Ok(Some(Value::Null))
    }
}
