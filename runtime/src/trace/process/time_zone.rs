//! C functions whose results depend on arguments, time zone and locale: called while tracing, and again by a guard.
use crate::ffi::types;
use crate::ffi::types::is_c_type;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::ValueId;
use crate::trace::value::c_values::is_value;
use crate::trace::value::kinds::{is_definition, is_scalar};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

/// Functions: module, name, how many arguments they have at least and at most. With fewer they read the clock.
const FUNCTIONS: &[(&str, &str, usize, usize)] = &[
    ("time", "strftime", 2, 2),
    ("time", "localtime", 1, 1),
    ("time", "gmtime", 1, 1),
    ("time", "ctime", 1, 1),
    ("time", "mktime", 1, 1),
    ("time", "asctime", 1, 1),
    ("_locale", "localeconv", 0, 0),
    ("_locale", "setlocale", 1, 2),
    ("posix", "uname", 0, 0),
    ("posix", "getcwdb", 0, 0),
];

/// Methods of dates and times: class, name.
const METHODS: &[(&str, &str)] = &[
    ("datetime.date", "strftime"),
    ("datetime.time", "strftime"),
    ("datetime.datetime", "timestamp"),
    ("datetime.datetime", "astimezone"),
];

/// Methods of their classes.
const CLASS_METHODS: &[(&str, &str)] = &[("datetime.date", "fromtimestamp"), ("datetime.datetime", "fromtimestamp")];

impl<'py> Tracer<'py> {
    /// A function of a module; `None`: it is another one, or what it is given is not known.
    pub(crate) fn read_settings(
        &mut self,
        function: &Bound<'py, PyAny>,
        module: &str,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let count = args.positional.len();
        let listed = FUNCTIONS.iter().any(|row| {
            row.0 == module && row.1 == name && (row.2..=row.3).contains(&count) && args.keywords.is_empty()
        });
        if !listed || !self.only_asks(name, args)? {
            return Ok(None);
        }
        self.ask_with_fixed(function, &args.positional)
    }

    /// Whether a function of settings with these arguments reads no clock and sets nothing.
    fn only_asks(&mut self, name: &str, args: &Arguments) -> Traced<bool> {
        match (name, args.positional.as_slice()) {
            ("localtime" | "gmtime" | "ctime", [time]) => Ok(!self.is_none(*time)?),
            ("setlocale", [_, locale]) => self.is_none(*locale),
            _ => Ok(true),
        }
    }

    /// A method of a date or a time that nothing changes; `None`: it is another one, or what it is given is not known.
    pub(crate) fn read_settings_of(
        &mut self,
        method: &Bound<'py, PyAny>,
        owner: &Bound<'py, PyType>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let owner = types::c_name(owner);
        if !METHODS.iter().any(|row| row.0 == owner && row.1 == name) {
            return Ok(None);
        }
        let Some(receiver) = args.positional.first().copied() else { return Ok(None) };
        if !is_c_type(&self.class_of(receiver)?) || name == "strftime" && !self.rely_on_strftime()? {
            return Ok(None);
        }
        self.ask_with_zone(method, args)
    }

    /// A method of a class of dates; `None`: it is another one, or what it is given is not known.
    pub(crate) fn read_settings_for(
        &mut self,
        method: &Bound<'py, PyAny>,
        class: &Bound<'py, PyType>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let owner = types::c_name(class);
        if !is_c_type(class) || !CLASS_METHODS.iter().any(|row| row.0 == owner && row.1 == name) {
            return Ok(None);
        }
        self.ask_with_zone(method, args)
    }

    /// C asks `time.strftime`, whichever that is. CPython: `wrap_strftime`.
    fn rely_on_strftime(&mut self) -> Traced<bool> {
        let modules = crate::ffi::modules::import(self.py, "sys").and_then(|sys| sys.getattr("modules"));
        let modules = modules.or_else(|error| internal(error.to_string()))?;
        let Ok(module) = modules.get_item("time") else { return Ok(false) };
        let Ok(names) = module.getattr("__dict__") else { return Ok(false) };
        let original = self.import("time", "strftime")?;
        if !names.get_item("strftime").is_ok_and(|found| found.is(&original)) {
            return Ok(false);
        }
        let why = "C calls time.strftime";
        let place = Source::constant(&modules).entry(self.py, "time");
        self.guard(place, Check::Is(module.unbind()), why);
        let place = Source::constant(&names).entry(self.py, "strftime");
        self.guard(place, Check::Is(original.unbind()), why);
        Ok(true)
    }

    fn ask_with_zone(&mut self, method: &Bound<'py, PyAny>, args: &Arguments) -> Traced<Option<ValueId>> {
        match with_zone(args) {
            Some(args) => self.ask_with_fixed(method, &args),
            None => Ok(None),
        }
    }

    fn ask_with_fixed(&mut self, function: &Bound<'py, PyAny>, args: &[ValueId]) -> Traced<Option<ValueId>> {
        let mut given = Vec::with_capacity(args.len());
        for arg in args {
            let Some(arg) = self.fixed(*arg)? else { return Ok(None) };
            given.push(arg);
        }
        let given = PyTuple::new(self.py, given).or_else(|error| self.raise_error(error))?;
        self.call_and_guard(function, &given)
    }

    /// The object, if nothing changes it and all that it holds is known with it: numbers, text, tuples of these, dates.
    fn fixed(&mut self, value: ValueId) -> Traced<Option<Bound<'py, PyAny>>> {
        let is_fixed = |object: &Bound<'py, PyAny>| {
            is_scalar(object) || is_value(object) || object.is_instance_of::<PyTuple>() && is_definition(object)
        };
        if let Some(owned) = self.owned(value) {
            return Ok(Some(owned).filter(is_fixed));
        }
        if let Some(known) = self.known(value).filter(is_fixed) {
            return Ok(Some(known));
        }
        match self.real(value).is_some_and(|object| is_value(&object)) {
            true => self.unchanging(value),
            false => Ok(None),
        }
    }
}

/// The arguments, a time zone that has a name put last.
fn with_zone(args: &Arguments) -> Option<Vec<ValueId>> {
    match args.keywords.as_slice() {
        [] => Some(args.positional.clone()),
        [(name, zone)] if name == "tz" => Some(args.positional.iter().copied().chain([*zone]).collect()),
        _ => None,
    }
}
